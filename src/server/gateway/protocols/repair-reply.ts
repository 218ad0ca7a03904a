import type { WrittenRequest } from './codec.ts'
import type { OpenEvent, ReplyEvent } from './reply-events.ts'
import { cutInputObject } from './tool-input.ts'

/**
 * Undoes in the reply the changes made to the request: tools get the caller's names back, the input of a free-text tool is unwrapped
 * from JSON, and the tool that represents a JSON answer becomes the answer. One function for each reply; it keeps the grammar of
 * `ReplyEvent`.
 */
export function repairReply(written: Pick<WrittenRequest, 'toolNames' | 'answerTool' | 'customTools'>) {
  const { toolNames, answerTool, customTools } = written
  /** Blocks whose JSON is collected, because the text can only be read from all of it. */
  const collected = new Map<number, string>()
  /**
   * The open blocks, and whether each is the JSON answer: that becomes a text block, which must not be open together with others.
   */
  const open = new Map<number, boolean>()
  const waiting = new Set<number>()
  let queue: ReplyEvent[] = []
  const numbers = new Map<number, number>()
  let answers = 0
  let calls = 0

  return (event: ReplyEvent): ReplyEvent[] => step(event).map(renumbered)

  /** Numbers blocks in the order in which they are opened, which may have changed. */
  function renumbered(event: ReplyEvent): ReplyEvent {
    if (!('index' in event)) return event
    if (event.type === 'open') numbers.set(event.index, numbers.size)
    return { ...event, index: numbers.get(event.index) ?? event.index }
  }

  function step(event: ReplyEvent): ReplyEvent[] {
    if ('index' in event && mustWait(event)) {
      waiting.add(event.index)
      queue.push(event)
      return []
    }
    switch (event.type) {
      case 'open':
        return [opened(event)]
      case 'delta': {
        const before = collected.get(event.index)
        if (before === undefined) return [event]
        collected.set(event.index, before + event.text)
        return []
      }
      case 'close':
        return [...closed(event.index), event, ...released()]
      case 'finish':
        return [event.reason === 'tool-calls' && answers > 0 && calls === 0 ? { ...event, reason: 'stop' } : event]
      default:
        return [event]
    }
  }

  function mustWait(event: ReplyEvent & { readonly index: number }): boolean {
    if (waiting.has(event.index)) return true
    if (event.type !== 'open') return false
    return open.size > 0 && (isAnswer(event) || [...open.values()].includes(true))
  }

  function isAnswer(event: OpenEvent): boolean {
    return event.block === 'tool-call' && event.name === answerTool
  }

  function opened(event: OpenEvent): OpenEvent {
    open.set(event.index, isAnswer(event))
    if (event.block !== 'tool-call' && event.block !== 'custom-tool-call') return event
    if (isAnswer(event)) {
      answers++
      return { type: 'open', index: event.index, block: 'text' }
    }
    calls++
    const isFree = event.block === 'tool-call' && customTools?.has(event.name) === true
    if (isFree) collected.set(event.index, '')
    return { ...event, block: isFree ? 'custom-tool-call' : event.block, name: toolNames?.get(event.name) ?? event.name }
  }

  function closed(index: number): ReplyEvent[] {
    open.delete(index)
    const text = freeText(collected.get(index) ?? '')
    collected.delete(index)
    return text === '' ? [] : [{ type: 'delta', index, text }]
  }

  /** The events that waited for all open blocks to close. */
  function released(): ReplyEvent[] {
    if (open.size > 0 || queue.length === 0) return []
    const again = queue
    queue = []
    waiting.clear()
    return again.flatMap(step)
  }
}

/** Whether there is anything to undo. */
export function needsRepair({ toolNames, answerTool, customTools }: WrittenRequest): boolean {
  return (toolNames?.size ?? 0) > 0 || answerTool !== undefined || (customTools?.size ?? 0) > 0
}

/** The member `input` of a tool call's JSON, which may be truncated; the JSON itself when that is absent. */
function freeText(json: string): string {
  const { input } = json === '' ? { input: '' } : cutInputObject(json)
  return typeof input === 'string' ? input : json
}
