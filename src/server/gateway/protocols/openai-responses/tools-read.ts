import type { Text } from '../../../../contract/text.ts'
import type { Dialogue, Search, Tool, ToolChoice, VendorOnlyTool } from '../dialogue.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { mustBeObject, refuseInvalid, refuseType, unknownValue, vendorOnlyTool } from './refusals.ts'
import { type FlatNames, isClientSearch, type ToolList, toolLists } from './tool-lists.ts'

/**
 * The tools of a request, including those in its input items: functions and free-text tools, under flat names if they have a
 * namespace, and web search, which other vendors also have; every other tool is in `vendorOnly`. Throws `field_invalid` for one
 * without a name.
 */
export function readTools(body: JsonObject, names: FlatNames): Pick<Dialogue, 'tools' | 'search' | 'vendorOnly'> {
  const reader = new ToolsReader(names)
  const [declared, ...added] = toolLists(body)
  if (declared) reader.take({ ...declared, tools: withoutDeferred(declared.tools) })
  for (const list of added) reader.add(list)
  const { tools, search, vendorOnly } = reader
  return { tools: withNamespaces(tools), search, ...(vendorOnly.length > 0 ? { vendorOnly } : {}) }
}

/** The first tool of each namespace also carries its description. */
function withNamespaces(tools: readonly Tool[]): Tool[] {
  const reported = new Set<string>()
  return tools.map((tool) => {
    const { namespace } = tool
    if (!namespace || reported.has(namespace.name)) return tool
    reported.add(namespace.name)
    const texts = [namespace.description, tool.description].filter((text) => text !== undefined)
    return { ...tool, description: texts.join('\n\n') || undefined }
  })
}

/**
 * Deferred tools are loaded by the caller's search. Models of other vendors do not have the vendor's own search: in that case all
 * tools are declared from the start.
 */
function withoutDeferred(tools: readonly unknown[]): readonly unknown[] {
  const searches = tools.filter(isObject).filter(({ type }) => type === 'tool_search')
  if (searches.length === 0 || !searches.every(isClientSearch)) return tools
  const isDeferred = (tool: unknown) => isObject(tool) && tool.defer_loading === true
  return tools.flatMap((tool) => {
    if (!isObject(tool) || tool.type !== 'namespace') return isDeferred(tool) ? [] : [tool]
    return [{ ...tool, tools: arrayAt(tool, 'tools').filter((inner) => !isDeferred(inner)) }]
  })
}

class ToolsReader {
  readonly tools: Tool[] = []
  readonly vendorOnly: VendorOnlyTool[] = []
  search: Search | undefined
  readonly #names: FlatNames
  readonly #places = new Map<string, number>()

  constructor(names: FlatNames) {
    this.#names = names
  }

  /** All top-level tools are kept: writers choose between two with the same name. */
  take(list: ToolList): void {
    for (const tool of this.#readAll(list)) {
      if (!this.#places.has(tool.name)) this.#places.set(tool.name, this.tools.length)
      this.tools.push(tool)
    }
  }

  /** A later tool replaces an earlier one of the same name. */
  add(list: ToolList): void {
    for (const tool of this.#readAll(list)) {
      const place = this.#places.get(tool.name) ?? this.tools.length
      this.#places.set(tool.name, place)
      this.tools[place] = tool
    }
  }

  #readAll({ tools, field }: ToolList): Tool[] {
    return tools.flatMap((tool, at) => this.#read(tool, `${field}[${at}]`))
  }

  #read(tool: unknown, field: string): Tool[] {
    if (!isObject(tool)) return refuseInvalid(field, mustBeObject)
    switch (tool.type) {
      case 'function':
      case 'custom':
        return [readTool(tool, field)]
      case 'namespace':
        return this.#readNamespace(tool, field)
      default:
        if (isClientSearch(tool)) return [{ ...readFunction(tool), name: this.#names.search, isToolSearch: true }]
        if (typeof tool.type === 'string' && searchType.test(tool.type)) this.#search(tool, field)
        else this.vendorOnly.push(vendorOnlyTool(tool, field))
        return []
    }
  }

  /** A search limited to some sites has no equivalent in other formats: an answer from other sites would violate the request. */
  #search(tool: JsonObject, field: string): void {
    const isLimited = arrayAt(objectAt(tool, 'filters') ?? {}, 'allowed_domains').length > 0
    if (isLimited) this.vendorOnly.push({ field: `${field}.filters`, name: 'tools.web_search', reason: noSites })
    else this.search = readSearch(tool)
  }

  #readNamespace(folder: JsonObject, field: string): Tool[] {
    const name = requireName(folder, field)
    const description = textAt(folder, 'description') || undefined
    return arrayAt(folder, 'tools').flatMap((inner, at) => {
      const place = `${field}.tools[${at}]`
      if (!isObject(inner)) return refuseInvalid(place, mustBeObject)
      if (inner.type !== 'function' && inner.type !== 'custom') {
        this.vendorOnly.push(vendorOnlyTool(inner, place))
        return []
      }
      const tool = readTool(inner, place)
      const namespace = { name, description, tool: { name: tool.name, description: tool.description } }
      return [{ ...tool, name: this.#names.of(name, tool.name), namespace }]
    })
  }
}

const noSites: Text = { zh: '无法限制搜索的网站', en: 'the sites of a search cannot be limited' }
const searchType = /^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/

/** The forced tool. A tool that the vendor runs cannot be forced: throws `untranslatable`. */
export function readToolChoice(choice: unknown, tools: readonly Tool[]): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice }
  if (choice === 'validated') return { kind: 'auto', isValidated: true }
  if (!isObject(choice)) return refuseInvalid('tool_choice', unknownValue)
  if (choice.type === 'allowed_tools') return readAllowed(choice, tools)
  const [name, ...others] = namesChosen(choice, 'tool_choice', tools)
  if (name === undefined) return refuseType('tool_choice', choice.type)
  return others.length === 0 ? { kind: 'tool', name } : { kind: 'allowed', names: [name, ...others], isRequired: true }
}

function readAllowed(choice: JsonObject, tools: readonly Tool[]): ToolChoice {
  const names = arrayAt(choice, 'tools').flatMap((entry, at) =>
    isObject(entry) && entry.name ? namesChosen(entry, `tool_choice.tools[${at}]`, tools) : [],
  )
  const [first] = arrayAt(choice, 'tools').filter(isObject)
  if (names.length === 0 && first) return refuseType('tool_choice.tools[0]', first.type)
  return { kind: 'allowed', names, isRequired: choice.mode === 'required' }
}

/** The flat names that a tool choice selects: those of a whole namespace, of a tool in one, or of any tool with that name. */
function namesChosen(choice: JsonObject, field: string, tools: readonly Tool[]): string[] {
  const isNamespace = choice.type === 'namespace'
  if (!isNamespace && choice.type !== 'function' && choice.type !== 'custom') return []
  const name = requireName(choice, field)
  const namespace = isNamespace ? name : textAt(choice, 'namespace')
  const inNamespaces = tools.filter((tool) => tool.namespace && (namespace === '' || tool.namespace.name === namespace))
  const chosen = isNamespace ? inNamespaces : inNamespaces.filter((tool) => tool.namespace?.tool.name === name)
  const isFlat = namespace === '' && tools.some((tool) => !tool.namespace && tool.name === name)
  return isFlat || chosen.length === 0 ? [name] : chosen.map((tool) => tool.name)
}

function readTool(tool: JsonObject, field: string): Tool {
  const name = requireName(tool, field)
  if (tool.type === 'function') return { ...readFunction(tool), name }
  const description = textAt(tool, 'description') || undefined
  return { name, description, schema: undefined, strict: undefined, custom: { format: tool.format } }
}

function readFunction(tool: JsonObject): Omit<Tool, 'name'> {
  return {
    description: textAt(tool, 'description') || undefined,
    schema: objectAt(tool, 'parameters'),
    strict: typeof tool.strict === 'boolean' ? tool.strict : undefined,
    custom: undefined,
  }
}

function readSearch(tool: JsonObject): Search {
  const size = tool.search_context_size
  return {
    contextSize: size === 'low' || size === 'medium' || size === 'high' ? size : undefined,
    location: objectAt(tool, 'user_location'),
  }
}

function requireName(tool: JsonObject, field: string): string {
  return textAt(tool, 'name') || refuseInvalid(`${field}.name`, { zh: '不能为空', en: 'must not be empty' })
}
