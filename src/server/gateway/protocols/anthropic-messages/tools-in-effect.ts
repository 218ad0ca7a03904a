import { fail } from '../../../base/lib/failure.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'

/** A tool as it is in the request, and its path. */
interface PlacedTool {
  readonly tool: unknown
  readonly field: string
  /** The block of a system message that made the tool available; its cache breakpoint counts for the tool. */
  readonly addedBy?: JsonObject
}

/** Every tool that a request defines, at the top level and in system messages. */
export function definedTools(body: JsonObject): readonly unknown[] {
  const declared = arrayAt(body, 'tools')
  // Only messages with blocks can add tools.
  const hasBlocks = (message: unknown) => isObject(message) && message.role === 'system' && Array.isArray(message.content)
  const messages = arrayAt(body, 'messages')
  if (!messages.some(hasBlocks)) return declared
  const added = messages.filter(hasBlocks)
  const definitions = placedBlocks({ messages: added }).map(({ block }) => objectAt(block, 'tool')?.definition)
  return [...declared, ...definitions.filter(isObject)]
}

/**
 * The tools that the model may call at the end of a conversation in which system messages add and withdraw some. Deferred tools are
 * included once they were added or found; all of them are included if the vendor searches for them, since no other model has that
 * search. Throws `field_invalid` for a change of an undefined tool.
 */
export function toolsInEffect(body: JsonObject): PlacedTool[] {
  const declared = arrayAt(body, 'tools')
  const isSearched = declared.some((tool) => isObject(tool) && textAt(tool, 'type').startsWith('tool_search_tool'))
  const all = new Tools()
  for (const [at, tool] of declared.entries()) {
    all.declare({ tool, field: `tools[${at}]` }, !(isObject(tool) && tool.defer_loading === true) || isSearched)
  }
  for (const { role, block, field } of placedBlocks(body)) {
    if (role === 'system') change(all, block, field)
    else for (const name of foundIn(block)) all.offer(name, true)
  }
  return all.offered
}

class Tools {
  /** All tools; those with the same name are left to the writers. */
  readonly #all: { readonly placed: PlacedTool; readonly name: string; readonly isOffered: boolean }[] = []
  readonly #names = new Set<string>()
  /**
   * The last change of each name: whether the tool is offered, by which block, and the index of the first tool that it applies to.
   */
  readonly #changes = new Map<string, { isOffered: boolean; addedBy?: JsonObject; from: number }>()

  get offered(): PlacedTool[] {
    return this.#all.flatMap(({ placed, name, isOffered }, at) => {
      const { isOffered: isStill = isOffered, addedBy, from = 0 } = this.#changes.get(name) ?? {}
      if (!isStill || at < from) return []
      return [addedBy ? { ...placed, addedBy } : placed]
    })
  }

  has(name: string): boolean {
    return name !== '' && this.#names.has(name)
  }

  declare(placed: PlacedTool, isOffered: boolean): void {
    const name = nameOf(placed.tool)
    this.#names.add(name)
    this.#all.push({ placed, name, isOffered })
  }

  /** Adds a tool that replaces those of the same name. */
  define(placed: PlacedTool, addedBy: JsonObject): void {
    this.#changes.set(nameOf(placed.tool), { isOffered: true, addedBy, from: this.#all.length })
    this.declare(placed, true)
  }

  offer(name: string, isOffered: boolean, addedBy?: JsonObject): void {
    const { from = 0 } = this.#changes.get(name) ?? {}
    this.#changes.set(name, { isOffered, from, ...(addedBy ? { addedBy } : {}) })
  }
}

function nameOf(tool: unknown): string {
  return isObject(tool) ? textAt(tool, 'name') : ''
}

function change(all: Tools, block: JsonObject, field: string): void {
  const isAddition = block.type === 'tool_addition'
  if (!isAddition && block.type !== 'tool_removal') return
  const changed = objectAt(block, 'tool') ?? {}
  if (changed.type === 'tool_definition') {
    const { definition } = changed
    if (!isAddition || !isObject(definition)) refuse(`${field}.tool`, { zh: '缺少工具定义', en: 'defines no tool' })
    all.define({ tool: definition, field: `${field}.tool.definition` }, block)
  }
  // Tools of a server that only the vendor can call are left out together with that server.
  if (changed.type !== 'tool_reference') return
  const name = textAt(changed, 'name')
  if (!all.has(name)) refuse(`${field}.tool.name`, { zh: '没有定义该工具', en: 'no tool has this name' })
  all.offer(name, isAddition, isAddition ? block : undefined)
}

/** The names of tools that a tool search of the vendor or the client found. */
function foundIn(block: JsonObject): string[] {
  const results = block.type === 'tool_result' ? arrayAt(block, 'content') : []
  const searched = block.type === 'tool_search_tool_result' ? arrayAt(objectAt(block, 'content') ?? {}, 'tool_references') : []
  return [...results, ...searched].flatMap((inner) =>
    isObject(inner) && inner.type === 'tool_reference' ? [textAt(inner, 'tool_name')] : [],
  )
}

function placedBlocks(body: JsonObject): { role: unknown; block: JsonObject; field: string }[] {
  return arrayAt(body, 'messages').flatMap((message, at) => {
    if (!isObject(message)) return []
    return arrayAt(message, 'content').flatMap((block, index) =>
      isObject(block) ? [{ role: message.role, block, field: `messages[${at}].content[${index}]` }] : [],
    )
  })
}

function refuse(field: string, reason: { zh: string; en: string }): never {
  return fail('field_invalid', { field, reason })
}
