import { named, type VendorTools } from '../hosted-tools.ts'
import { isObject, type JsonObject } from '../wire-format.ts'
import { eitherObject, toolGroups } from './members.ts'

/** Tools of a Gemini request, each a member of a group. */
export function geminiTools(body: JsonObject): VendorTools {
  const names = toolGroups(body).flatMap((group) =>
    Object.entries(group).flatMap(([member, value]) => (isObject(value) || value === true ? namesOf(member, value) : [])),
  )
  return named(names, { free })
}

const free: ReadonlySet<string> = new Set(['code_execution', 'file_search', 'mcp_servers', 'url_context'])
/** Members of a group that the caller runs. */
const runByCallers: ReadonlySet<string> = new Set(['function_declarations', 'computer_use'])

function namesOf(member: string, value: unknown): string[] {
  const name = member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  if (runByCallers.has(name)) return []
  if (name !== 'google_search' && name !== 'google_search_retrieval') return [name]
  const kinds = isObject(value) ? eitherObject(value, 'searchTypes') : undefined
  const searchesImages = kinds !== undefined && eitherObject(kinds, 'imageSearch') !== undefined
  const searchesPages = !searchesImages || eitherObject(kinds, 'webSearch') !== undefined
  return [...(searchesPages ? ['web_search'] : []), ...(searchesImages ? ['image_search'] : [])]
}
