import { rememberByName } from '../lib/remember-by-name.ts'
import { definedTools } from './anthropic-messages/tools-in-effect.ts'
import type { Format } from './format.ts'
import { eitherObject, toolGroups } from './gemini-generate/members.ts'
import { toolLists } from './openai-responses/tool-lists.ts'
import { hasRequestFee } from './reply-fees.ts'
import { arrayAt, isObject, type JsonObject, objectAt, type RequestFacts, textAt } from './wire-format.ts'

/**
 * The tools of a request that its vendor runs: those billed by the call, by their names in the option `ToolPrice`, and those that only
 * cost input tokens. Tools that the caller runs are left out: functions, free-text tools, a shell or a browser.
 */
export type VendorTools = Pick<RequestFacts, 'hostedTools' | 'freeTools' | 'otherModels'>

/** Tools of Chat: search models, members that enable a search, and tools of a type that is neither a function nor custom. */
export function chatTools(body: JsonObject): VendorTools {
  const names = arrayAt(body, 'tools').flatMap((tool) => {
    const type = isObject(tool) ? textAt(tool, 'type') : ''
    if (type === '' || type === 'function' || type === 'custom') return []
    return isObject(tool) && type === 'builtin_function' ? textAt(objectAt(tool, 'function') ?? {}, 'name') || type : type
  })
  const searches = searchOfModel(textAt(body, 'model'))
  if (searches !== '') names.push(searches)
  else if (wantsSearch(body)) names.push('web_search')
  const live = objectAt(body, 'search_parameters')
  if (live && live.mode !== 'off') names.push('live_search')
  for (const plugin of arrayAt(body, 'plugins')) if (isObject(plugin)) names.push(pluginTool(textAt(plugin, 'id')))
  return named(names)
}

/** Whether a search is requested that is billed apart: models that always search charge for the request instead. */
function wantsSearch(body: JsonObject): boolean {
  if (isObject(body.web_search_options)) return !hasRequestFee(textAt(body, 'model'))
  return body.enable_search === true
}

/** Tools of a Responses request, including those in its input items. */
export function responsesTools(body: JsonObject): VendorTools {
  const compacts = arrayAt(body, 'context_management').length > 0 ? ['compaction'] : []
  return named(
    toolLists(body).flatMap(({ tools }) => tools.flatMap((tool) => (isObject(tool) ? responsesTool(tool) : []))),
    {
      free: freeOfResponses,
      more: compacts,
    },
  )
}

/** Tools of a Messages request, including those added by its messages, and adviser and fallback models. */
export function messagesTools(body: JsonObject): VendorTools {
  const tools = definedTools(body).filter(isObject)
  const types = tools.map((tool) => textAt(tool, 'type')).filter((type) => type !== '' && type !== 'custom')
  // Code that only filters search or fetch results is free of charge.
  const filters = types.some((type) => filteringTool.test(type) && dateOf(type) >= '20260209')
  const free = filters ? freeBesideFilters : freeOfMessages
  const names = types.map(plainType).filter((name) => !ofTheCaller.has(name))
  const helpers = [...tools.filter(({ type }) => isAdvisor(type)), ...arrayAt(body, 'fallbacks').filter(isObject)]
  const models = helpers.map((helper) => textAt(helper, 'model')).filter((model) => model !== '')
  const more = compactsMessages(body) ? ['compaction'] : []
  return { ...named(names, { free, more }), ...(models.length > 0 ? { otherModels: [...new Set(models)] } : {}) }
}

/** Tools of a Gemini request, each a member of a group. */
export function geminiTools(body: JsonObject): VendorTools {
  const names = toolGroups(body).flatMap((group) =>
    Object.entries(group).flatMap(([member, value]) => (isObject(value) || value === true ? geminiTool(member, value) : [])),
  )
  return named(names, { free: freeOfGemini })
}

/** The billed tools that are still present in the upstream's request after translation, by their names in the caller's request. */
export function carriedTools(asked: readonly string[], format: Format, body: JsonObject): string[] {
  if (asked.length === 0) return []
  const { hostedTools: sent = [] } = vendorTools(format, body)
  return asked.filter((name) => sent.includes(name) || (isWebSearch(name) && sent.some(isWebSearch)))
}

/** The tools of a body in an upstream's format; none for formats without such tools. */
export function vendorTools(format: Format, body: JsonObject): VendorTools {
  return readers[format]?.(body) ?? {}
}

const readers: Readonly<Partial<Record<Format, (body: JsonObject) => VendorTools>>> = {
  'openai.chat': chatTools,
  'openai.responses': responsesTools,
  'anthropic.messages': messagesTools,
  'gemini.generate': geminiTools,
}

/** Whether web searches are billed under this name. */
export function isWebSearch(name: string): boolean {
  return webSearches.has(name)
}

const webSearches: ReadonlySet<string> = new Set([
  'web_search',
  'web_search_preview',
  'enterprise_web_search',
  'live_search',
  '$web_search',
])

/** The web search that a Chat model always performs; '' for other models. */
const searchOfModel = rememberByName((model) => {
  if (/-search-preview/.test(model)) return 'web_search_preview'
  return /-search-api/.test(model) ? 'web_search' : ''
})

/** OpenRouter's search plugin has its own name. */
function pluginTool(id: string): string {
  return id === 'web' ? 'web_search' : id
}

function responsesTool(tool: JsonObject): string[] {
  const name = plainType(textAt(tool, 'type'))
  switch (name) {
    case 'code_interpreter':
      return [withMemory(name, objectAt(tool, 'container'))]
    case 'shell': {
      const environment = objectAt(tool, 'environment')
      return environment && environment.type !== 'local' ? [withMemory(name, environment)] : []
    }
    default:
      return name === '' || ofTheCaller.has(name) ? [] : [name]
  }
}

/** A larger container has its own price. */
function withMemory(name: string, container: JsonObject | undefined): string {
  const memory = textAt(container ?? {}, 'memory_limit')
  return memory === '' || memory === '1g' ? name : `${name}_${memory}`
}

/** Tools that the caller runs, or types that only declare such tools. */
const ofTheCaller: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'namespace',
  'apply_patch',
  'bash',
  'browser_toolset',
  'computer',
  'computer_toolset',
  'computer_use',
  'computer_use_preview',
  'local_shell',
  'memory',
  'text_editor',
  'tool_search',
  'tool_search_tool_bm25',
  'tool_search_tool_regex',
])

const freeOfResponses: ReadonlySet<string> = new Set(['mcp', 'programmatic_tool_calling'])
const freeOfMessages: ReadonlySet<string> = new Set(['advisor', 'mcp_toolset', 'web_fetch'])
const freeBesideFilters: ReadonlySet<string> = new Set([...freeOfMessages, 'code_execution'])
const freeOfGemini: ReadonlySet<string> = new Set(['code_execution', 'file_search', 'mcp_servers', 'url_context'])
/** Members of Gemini's groups of tools that the caller runs. */
const callersOfGemini: ReadonlySet<string> = new Set(['function_declarations', 'computer_use'])

/** Whether the vendor compacts the conversation while it answers: the model then reads it more than once. */
function compactsMessages(body: JsonObject): boolean {
  const edits = arrayAt(objectAt(body, 'context_management') ?? {}, 'edits')
  return isObject(body.compaction) || edits.some((edit) => isObject(edit) && textAt(edit, 'type').startsWith('compact'))
}

const filteringTool = /^web_(search|fetch)_/

function isAdvisor(type: unknown): boolean {
  return typeof type === 'string' && plainType(type) === 'advisor'
}

function geminiTool(member: string, value: unknown): string[] {
  const name = member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  if (callersOfGemini.has(name)) return []
  if (name !== 'google_search' && name !== 'google_search_retrieval') return [name]
  const kinds = isObject(value) ? eitherObject(value, 'searchTypes') : undefined
  const searchesImages = kinds !== undefined && eitherObject(kinds, 'imageSearch') !== undefined
  const searchesPages = !searchesImages || eitherObject(kinds, 'webSearch') !== undefined
  return [...(searchesPages ? ['web_search'] : []), ...(searchesImages ? ['image_search'] : [])]
}

/** The type of a tool without the date of its version. */
function plainType(type: string): string {
  return type.replace(/_\d{4}_?\d{2}_?\d{2}$/, '')
}

function dateOf(type: string): string {
  return /\d{8}$/.exec(type)?.[0] ?? ''
}

/** Names from callers are truncated in messages and logs. */
const nameLengthMax = 64

const none: ReadonlySet<string> = new Set()

function named(
  names: readonly string[],
  { free = none, more = [] }: { free?: ReadonlySet<string>; more?: readonly string[] } = {},
): VendorTools {
  if (names.length === 0 && more.length === 0) return {}
  const all = [...new Set(names.map((name) => name.slice(0, nameLengthMax)))]
  const hostedTools = all.filter((name) => !free.has(name))
  const freeTools = [...all.filter((name) => free.has(name)), ...more]
  return { ...(hostedTools.length > 0 ? { hostedTools } : {}), ...(freeTools.length > 0 ? { freeTools } : {}) }
}
