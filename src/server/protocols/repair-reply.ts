import type { WrittenRequest } from './codec.ts'
import type { OpenEvent, ReplyEvent } from './reply-events.ts'
import { isObject } from './wire-format.ts'

/**
 * Undoes in the reply what writing the request had to change: tools get the caller's names back, the input of a free-text tool leaves its
 * JSON, and the tool that stood for a JSON answer becomes the answer. One function for each reply; it keeps the grammar of `ReplyEvent`.
 */
export function repairReply(written: Pick<WrittenRequest, 'toolNames' | 'answerTool' | 'customTools'>) {
  const { toolNames, answerTool, customTools } = written
  /** Blocks whose JSON is collected, because only all of it gives the text. */
  const collected = new Map<number, string>()
  const answers = new Set<number>()
  let realCalls = 0

  return (event: ReplyEvent): ReplyEvent[] => {
    switch (event.type) {
      case 'open':
        return [open(event)]
      case 'delta': {
        const before = collected.get(event.index)
        if (before === undefined) return [event]
        collected.set(event.index, before + event.text)
        return []
      }
      case 'close': {
        const json = collected.get(event.index)
        if (json === undefined) return [event]
        collected.delete(event.index)
        const text = freeText(json)
        return text === '' ? [event] : [{ type: 'delta', index: event.index, text }, event]
      }
      case 'finish':
        return [event.reason === 'tool-calls' && answers.size > 0 && realCalls === 0 ? { ...event, reason: 'stop' } : event]
      default:
        return [event]
    }
  }

  function open(event: OpenEvent): OpenEvent {
    if (event.block !== 'tool-call' && event.block !== 'custom-tool-call') return event
    if (event.block === 'tool-call' && event.name === answerTool) {
      answers.add(event.index)
      return { type: 'open', index: event.index, block: 'text' }
    }
    realCalls++
    const isFree = event.block === 'tool-call' && customTools?.has(event.name) === true
    if (isFree) collected.set(event.index, '')
    return { ...event, block: isFree ? 'custom-tool-call' : event.block, name: toolNames?.get(event.name) ?? event.name }
  }
}

/** The member `input` of a tool call's JSON, or the JSON itself when it has none. */
function freeText(json: string): string {
  try {
    const value: unknown = JSON.parse(json)
    if (isObject(value) && typeof value.input === 'string') return value.input
  } catch {
    // What is no JSON was meant as the text itself.
  }
  return json
}
