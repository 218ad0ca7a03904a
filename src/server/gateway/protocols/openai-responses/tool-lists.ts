import { shortHash } from '../call-ids.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../wire-format.ts'

/** A list of tools in a request, and its path. */
export interface ToolList {
  readonly tools: readonly unknown[]
  readonly field: string
}

/** The tool lists of a request in order: the one at the top level, then those in input items. */
export function toolLists(body: JsonObject): ToolList[] {
  const input = arrayAt(body, 'input')
  if (input.length === 0) return [{ tools: arrayAt(body, 'tools'), field: 'tools' }]
  const inItems = input.flatMap((item, at) =>
    isObject(item) && carriers.has(textAt(item, 'type')) ? [{ tools: arrayAt(item, 'tools'), field: `input[${at}].tools` }] : [],
  )
  return [{ tools: arrayAt(body, 'tools'), field: 'tools' }, ...inItems]
}

/** Types of items that contain further tools. */
const carriers: ReadonlySet<string> = new Set(['additional_tools', 'tool_search_output'])

/** Whether a tool is a search for further tools that the caller runs, which the model calls like a function. */
export function isClientSearch(tool: JsonObject): boolean {
  return tool.type === 'tool_search' && tool.execution === 'client'
}

/** The unique names of a request's tools in one flat list. */
export interface FlatNames {
  /** The flat name of a tool; `namespace` is '' for a tool without one. */
  of(namespace: string, name: string): string
  /** The name of the tool search that the caller runs. */
  readonly search: string
}

/**
 * Names for formats without namespaces: `<namespace>__<name>`, ending in a hash of both where another tool of the request would have
 * the same name. Tools without a namespace keep their names. The length is not limited here.
 */
export function flatNames(body: JsonObject): FlatNames {
  const taken = new Set<string>()
  const places = new Map<string, Place>()
  for (const { tools } of toolLists(body)) for (const tool of tools) if (isObject(tool)) note(tool, { taken, places })
  for (const item of arrayAt(body, 'input')) {
    if (isObject(item) && calls.has(textAt(item, 'type'))) add(places, textAt(item, 'namespace'), textAt(item, 'name'))
  }

  const joined = new Map<string, number>()
  for (const place of places.values()) joined.set(joinedName(place), (joined.get(joinedName(place)) ?? 0) + 1)
  const isAmbiguous = (place: Place) => taken.has(joinedName(place)) || joined.get(joinedName(place)) !== 1
  const ambiguous = [...places].filter(([, place]) => isAmbiguous(place))
  const hashed = new Set(ambiguous.map(([key]) => key))
  const given = new Map<string, string>()
  for (const [key, place] of places) if (!hashed.has(key)) given.set(key, joinedName(place))
  for (const name of given.values()) taken.add(name)
  for (const [key, place] of ambiguous) given.set(key, freeName(joinedName(place), key, taken))

  const search = taken.has(searchName) ? freeName(searchName, searchName, taken) : searchName
  return { search, of: (namespace, name) => (namespace === '' ? name : (given.get(keyOf({ namespace, name })) ?? name)) }
}

/** The flat names of a list's tools. */
export function namesIn(tools: readonly unknown[], names: FlatNames): string[] {
  return tools.filter(isObject).flatMap((tool) => {
    const name = textAt(tool, 'name')
    if (tool.type !== 'namespace') return name === '' ? [] : [name]
    return arrayAt(tool, 'tools').flatMap((inner) => (isObject(inner) ? [names.of(name, textAt(inner, 'name'))] : []))
  })
}

/**
 * The bytes by which the names of a request's tools grow in one flat list: each flat name includes its namespace, which the request
 * contains only once.
 */
export function flatBytes(body: JsonObject): number {
  const all = toolLists(body).flatMap(({ tools }) => tools.filter(isObject))
  return all.reduce((sum, tool) => {
    if (tool.type !== 'namespace') return sum
    // The results of a search are listed by name again.
    return sum + 2 * arrayAt(tool, 'tools').length * (Math.min(textAt(tool, 'name').length, nameBytesMax) + 2)
  }, 0)
}

/** No vendor accepts longer names. */
const nameBytesMax = 128

interface Place {
  readonly namespace: string
  readonly name: string
}

const searchName = 'tool_search'
const calls: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call'])

function note(tool: JsonObject, { taken, places }: { taken: Set<string>; places: Map<string, Place> }): void {
  const name = textAt(tool, 'name')
  if (tool.type !== 'namespace') {
    if (name !== '') taken.add(name)
    return
  }
  for (const inner of arrayAt(tool, 'tools')) if (isObject(inner)) add(places, name, textAt(inner, 'name'))
}

function add(places: Map<string, Place>, namespace: string, name: string): void {
  if (namespace !== '' && name !== '') places.set(keyOf({ namespace, name }), { namespace, name })
}

function keyOf({ namespace, name }: Place): string {
  return JSON.stringify([namespace, name])
}

function joinedName({ namespace, name }: Place): string {
  return `${namespace}__${name}`
}

function freeName(name: string, key: string, taken: Set<string>): string {
  let free = `${name}_${shortHash(key, hashLength)}`
  for (let round = 2; taken.has(free); round++) free = `${name}_${shortHash(`${key} ${round}`, hashLength)}`
  taken.add(free)
  return free
}

const hashLength = 6
