import type { Opaque, Part, TextPart, ToolCallPart, ToolResultPart, Turn } from '../dialogue.ts'
import { base64Source } from '../media.ts'
import { inputText } from '../tool-input.ts'
import { continueText, hostedUseAsText } from '../tool-texts.ts'
import type { UnreadMembers } from '../unread-members.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { readContent } from './content-read.ts'
import { readSealed } from './envelope.ts'
import { readPastTool } from './past-tools.ts'
import { mustBeObject, refuse, refuseInvalid, refuseType, unknownValue } from './refusals.ts'
import { type FlatNames, namesIn } from './tool-lists.ts'

/**
 * Instructions and input items as leading instructions and turns. Consecutive items of the model are one turn; so are tool results.
 * Opaque state is put back to its position, which its envelope contains. Uses of hosted tools become text; after a turn that paused
 * at one, the model is asked to continue. Adds lost members to `unread`. Throws `untranslatable` for items that only their vendor
 * understands. Source: protocols notes 1.3 and 3.1, edge cases 197, 198 and 200.
 */
export function readInput(body: JsonObject, names: FlatNames, unread: UnreadMembers): { system: TextPart[]; turns: Turn[] } {
  const { instructions, input } = body
  if (instructions !== undefined && instructions !== null && typeof instructions !== 'string')
    refuseInvalid('instructions', { zh: '必须是文本', en: 'must be a text' })
  const head = typeof instructions === 'string' && instructions !== '' ? [text(instructions)] : []
  const reader = new InputReader(head, names, unread)
  if (typeof input === 'string') reader.add('user', [text(input)])
  else for (const [at, item] of arrayAt(body, 'input').entries()) reader.take(item, `input[${at}]`)
  if (reader.isPaused) reader.add('user', [continueText])
  const { system, turns } = reader
  return { system, turns }
}

class InputReader {
  readonly system: TextPart[]
  readonly turns: { role: Turn['role']; parts: Part[] }[] = []

  /** Whether the last item is a use of a hosted tool in the turn of the model. */
  isPaused = false
  readonly #names: FlatNames
  readonly #unread: UnreadMembers

  constructor(system: TextPart[], names: FlatNames, unread: UnreadMembers) {
    this.system = system
    this.#names = names
    this.#unread = unread
  }

  take(item: unknown, field: string): void {
    if (!isObject(item)) refuseInvalid(field, mustBeObject)
    this.isPaused = false
    switch (item.type) {
      case undefined:
      case 'message':
        this.#message(item, field)
        break
      case 'function_call':
      case 'custom_tool_call':
        this.add('assistant', [readCall(item, field, this.#names)])
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.#result(readResult(item, field))
        break
      case 'tool_search_call':
      case 'tool_search_output':
        this.#toolSearch(item)
        break
      // `readTools` reads the tools of this item.
      case 'additional_tools':
        break
      case 'reasoning':
        this.#reasoning(item)
        break
      case 'image_generation_call':
        this.#picture(item)
        break
      default:
        this.#pastTool(item, field)
    }
  }

  add(role: Turn['role'], parts: readonly Part[]): void {
    const last = this.turns.at(-1)
    if (role === 'assistant' && last?.role === role) last.parts.push(...parts)
    else this.turns.push({ role, parts: [...parts] })
  }

  #message(item: JsonObject, field: string): void {
    const { role } = item
    const parts = readContent(item.content, `${field}.content`)
    if (role === 'user' || role === 'assistant') {
      this.add(role, parts)
      return
    }
    if (role !== 'system' && role !== 'developer') refuseInvalid(`${field}.role`, unknownValue)
    const texts = parts.filter((part) => part.kind === 'text')
    if (texts.length < parts.length) refuse(`${field}.content`, { zh: '指令只能是文本', en: 'instructions can only be text' })
    if (this.turns.length === 0) this.system.push(...texts)
    else if (texts.length > 0) this.add('system', texts)
  }

  #result(result: ToolResultPart): void {
    const last = this.turns.at(-1)
    if (last?.role === 'user' && last.parts.every((part) => part.kind === 'tool-result')) last.parts.push(result)
    else this.turns.push({ role: 'user', parts: [result] })
  }

  /** A search that the vendor ran has no call to answer: `readTools` reads the tools that it found. */
  #toolSearch(item: JsonObject): void {
    const callId = textAt(item, 'call_id')
    if (callId === '') return
    if (item.type === 'tool_search_call') {
      const input = inputText(item.arguments)
      this.add('assistant', [{ kind: 'tool-call', callId, name: this.#names.search, input, isCustom: false }])
      return
    }
    const found = namesIn(arrayAt(item, 'tools'), this.#names)
    const answerText = found.length > 0 ? `These tools can be called now: ${found.join(', ')}` : 'No tools were found.'
    this.#result({ kind: 'tool-result', callId, parts: [text(answerText)], isError: false, isCustom: false })
  }

  #picture(item: JsonObject): void {
    const result = textAt(item, 'result')
    const name = 'image_generation'
    const resultParts = hostedUseAsText(
      { name, input: item.revised_prompt, answer: objectAt(item, 'error'), isError: true },
      () => {},
    )
    const made: Part[] = result === '' ? [] : [{ kind: 'media', media: 'image', source: base64Source(result, 'image/png') }]
    if (resultParts.length + made.length > 0) this.add('assistant', [...resultParts, ...made])
  }

  #pastTool(item: JsonObject, field: string): void {
    const { role, parts } = readPastTool(item, this.#unread) ?? refuseType(field, item.type)
    if (parts.length > 0) this.add(role, parts)
    this.isPaused = role === 'assistant' && parts.length > 0
  }

  #reasoning(item: JsonObject): void {
    const { opaque, place } = readSealed(textAt(item, 'encrypted_content'))
    if (opaque && place !== 'here') {
      this.#sealBefore(opaque, place)
      return
    }
    const reasoning = textsOf(item, 'summary') || textsOf(item, 'content')
    if (reasoning === '' && opaque === undefined) return
    this.add('assistant', [{ kind: 'reasoning', text: reasoning, ...(opaque ? { opaque } : {}) }])
  }

  /** Adds state to a call or to the text before it; dropped if that part is no longer in the history. */
  #sealBefore(opaque: Opaque, place: 'text' | { readonly callId: string }): void {
    const parts = this.turns.at(-1)?.role === 'assistant' ? (this.turns.at(-1)?.parts ?? []) : []
    const at = parts.findLastIndex((part) =>
      place === 'text' ? part.kind === 'text' : part.kind === 'tool-call' && part.callId === place.callId,
    )
    const part = parts[at]
    if (part && (part.kind === 'text' || part.kind === 'tool-call')) parts[at] = { ...part, opaque }
  }
}

function readCall(item: JsonObject, field: string, names: FlatNames): ToolCallPart {
  const isCustom = item.type === 'custom_tool_call'
  const plain = textAt(item, 'name') || refuseInvalid(`${field}.name`, { zh: '不能为空', en: 'must not be empty' })
  const name = names.of(textAt(item, 'namespace'), plain)
  const input = isCustom ? textAt(item, 'input') : inputText(item.arguments)
  return { kind: 'tool-call', callId: textAt(item, 'call_id') || textAt(item, 'id'), name, input, isCustom }
}

function readResult(item: JsonObject, field: string): ToolResultPart {
  const { output } = item
  const content = isObject(output) ? JSON.stringify(output) : output
  const parts = readContent(content, `${field}.output`).filter((part) => part.kind === 'text' || part.kind === 'media')
  const isCustom = item.type === 'custom_tool_call_output'
  return { kind: 'tool-result', callId: textAt(item, 'call_id'), parts, isError: false, isCustom }
}

function textsOf(item: JsonObject, key: string): string {
  const texts = arrayAt(item, key).filter(isObject)
  return texts.map((part) => textAt(part, 'text')).join('\n\n')
}

function text(value: string): TextPart {
  return { kind: 'text', text: value }
}
