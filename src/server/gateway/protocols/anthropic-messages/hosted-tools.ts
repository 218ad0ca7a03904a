import { named, plainType, runByCallers, type VendorTools } from '../hosted-tools.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { definedTools } from './tools-in-effect.ts'

/** Tools of a Messages request, including those added by its messages, and adviser and fallback models. */
export function messagesTools(body: JsonObject): VendorTools {
  const tools = definedTools(body).filter(isObject)
  const types = tools.map((tool) => textAt(tool, 'type')).filter((type) => type !== '' && type !== 'custom')
  // Code that only filters search or fetch results is free of charge.
  const filters = types.some((type) => filteringTool.test(type) && dateOf(type) >= '20260209')
  const names = types.map(plainType).filter((name) => !runByCallers.has(name))
  const helpers = [...tools.filter(({ type }) => isAdvisor(type)), ...arrayAt(body, 'fallbacks').filter(isObject)]
  const models = helpers.map((helper) => textAt(helper, 'model')).filter((model) => model !== '')
  const more = compacts(body) ? ['compaction'] : []
  return {
    ...named(names, { free: filters ? freeBesideFilters : free, more }),
    ...(models.length > 0 ? { otherModels: [...new Set(models)] } : {}),
  }
}

const free: ReadonlySet<string> = new Set(['advisor', 'mcp_toolset', 'web_fetch'])
const freeBesideFilters: ReadonlySet<string> = new Set([...free, 'code_execution'])
const filteringTool = /^web_(search|fetch)_/

/** Whether the vendor compacts the conversation while it answers: the model then reads it more than once. */
function compacts(body: JsonObject): boolean {
  const edits = arrayAt(objectAt(body, 'context_management') ?? {}, 'edits')
  return isObject(body.compaction) || edits.some((edit) => isObject(edit) && textAt(edit, 'type').startsWith('compact'))
}

function isAdvisor(type: unknown): boolean {
  return typeof type === 'string' && plainType(type) === 'advisor'
}

function dateOf(type: string): string {
  return /\d{8}$/.exec(type)?.[0] ?? ''
}
