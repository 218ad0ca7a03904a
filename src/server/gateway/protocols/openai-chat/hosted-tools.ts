import { rememberByName } from '../../../base/lib/collections/remember-by-name.ts'
import { named, type VendorTools } from '../hosted-tools.ts'
import { hasRequestFee } from '../reply-fees.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

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

/** The web search that a Chat model always performs; '' for other models. */
const searchOfModel = rememberByName((model) => {
  if (/-search-preview/.test(model)) return 'web_search_preview'
  return /-search-api/.test(model) ? 'web_search' : ''
})

/** OpenRouter's search plugin has its own name. */
function pluginTool(id: string): string {
  return id === 'web' ? 'web_search' : id
}
