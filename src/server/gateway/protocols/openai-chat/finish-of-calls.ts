import { EditList, spliceNested } from '../../../base/lib/bytes/splice-nested.ts'
import { eventAround } from '../../../base/lib/bytes/sse.ts'
import { arrayAt, type FinishMender, isObject, type JsonObject, objectAt } from '../wire-format.ts'

/**
 * Many hosts end a reply with calls by `stop`, on which clients do not make the calls. In a reply that passes through, the reason
 * becomes `tool_calls`, as it does in translated ones; all other bytes stay. Edge case 51.
 */
export function withFinishOfCalls(reply: Buffer): Buffer | undefined {
  const text = reply.toString('latin1')
  if (text.search(stops) < 0 || text.search(calls) < 0) return undefined
  const data: unknown = JSON.parse(reply.toString('utf8', reply[0] === 0xef ? 3 : 0))
  return isObject(data) ? corrected(reply, data, (_, choice) => hasCalls(objectAt(choice, 'message'))) : undefined
}

/** The same in a stream, whose last chunk has the reason: notes which choices have calls. */
export class FinishOfCalls implements FinishMender {
  readonly marks = /"usage"\s*:\s*\{|"error"|\[DONE\]|"finish_reason"\s*:\s*"stop"/g
  readonly #choices: number
  readonly #calling = new Set<number>()

  /** `choices` is the number of completions that the request asks for. */
  constructor(choices: number) {
    this.#choices = choices
  }

  see(block: string): void {
    if (this.#calling.size >= this.#choices || block.search(calls) < 0) return
    for (const { index } of block.matchAll(calls)) {
      const data = parse(eventAround(block, index)?.data ?? '')
      for (const [at, choice] of arrayAt(data, 'choices').entries()) {
        if (isObject(choice) && hasCalls(objectAt(choice, 'delta'))) this.#calling.add(indexOf(choice, at))
      }
      if (this.#calling.size >= this.#choices) return
    }
  }

  mend(data: Buffer, chunk: JsonObject): Buffer | undefined {
    if (this.#calling.size === 0) return undefined
    return corrected(data, chunk, (at, choice) => this.#calling.has(indexOf(choice, at)))
  }
}

function corrected(bytes: Buffer, data: JsonObject, isCalling: (at: number, choice: JsonObject) => boolean): Buffer | undefined {
  const list = new EditList()
  for (const [at, choice] of arrayAt(data, 'choices').entries()) {
    if (isObject(choice) && choice.finish_reason === 'stop' && isCalling(at, choice))
      list.set(['choices', at, 'finish_reason'], '"tool_calls"')
  }
  return list.isEmpty ? undefined : spliceNested(bytes, list.edits)
}

function hasCalls(message: JsonObject | undefined): boolean {
  return message !== undefined && arrayAt(message, 'tool_calls').length > 0
}

/** Some hosts leave the index out. */
function indexOf({ index }: JsonObject, at: number): number {
  return typeof index === 'number' ? index : at
}

function parse(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** In texts of the model these quotes are escaped, and do not match. */
const stops = /"finish_reason"\s*:\s*"stop"/
const calls = /"tool_calls"\s*:\s*\[\s*\{/g
