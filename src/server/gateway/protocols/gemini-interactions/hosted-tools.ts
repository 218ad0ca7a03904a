import { named, type VendorTools } from '../hosted-tools.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../wire-format.ts'

/** Tools of an interaction that the vendor runs, under the names of generateContent where that has them too. */
export function interactionTools(body: JsonObject): VendorTools {
  const tools = arrayAt(body, 'tools').filter(isObject)
  return named(tools.flatMap(namesOf), { free })
}

const free: ReadonlySet<string> = new Set([
  'code_execution',
  'file_search',
  'mcp_server',
  'processing',
  'retrieval',
  'url_context',
])
const runByCallers: ReadonlySet<string> = new Set(['', 'function', 'computer_use', 'tool_search'])

function namesOf(tool: JsonObject): string[] {
  const type = textAt(tool, 'type')
  if (runByCallers.has(type)) return []
  if (type !== 'google_search') return [type]
  const kinds = arrayAt(tool, 'search_types')
  const searchesImages = kinds.includes('image_search')
  return [...(searchesImages && kinds.length === 1 ? [] : ['web_search']), ...(searchesImages ? ['image_search'] : [])]
}
