import type { ReplyEvent } from './reply-events.ts'

/**
 * Converts reasoning to a part of the text, between `<think>` tags, for clients that display only text. A reply without reasoning has
 * no tags. One function for each reply; it keeps the grammar of `ReplyEvent`.
 */
export function thinkingToContent() {
  /** The index of the written block, by the index in the original reply. */
  const written = new Map<number, number>()
  const thoughts = new Set<number>()
  /** Reasoning blocks that are not empty. */
  const opening = new Set<number>()
  let next = 0
  let text: number | undefined

  const opened = (index: number) => {
    written.set(index, next)
    return next++
  }
  const endText = (): ReplyEvent[] => {
    if (text === undefined) return []
    const closed = text
    text = undefined
    return [{ type: 'close', index: closed }]
  }

  return (event: ReplyEvent): ReplyEvent[] => {
    switch (event.type) {
      case 'open': {
        if (event.block !== 'text' && event.block !== 'reasoning') {
          const before = endText()
          return [...before, { ...event, index: opened(event.index) }]
        }
        const isThought = event.block === 'reasoning'
        if (isThought) thoughts.add(event.index)
        const begins: ReplyEvent[] = []
        if (text === undefined) {
          text = next
          begins.push({ type: 'open', index: opened(event.index), block: 'text' })
        } else written.set(event.index, text)
        return begins
      }
      case 'delta': {
        const index = written.get(event.index) ?? event.index
        if (!thoughts.has(event.index)) return [{ ...event, index }]
        const isFirst = !opening.has(event.index)
        opening.add(event.index)
        return [{ type: 'delta', index, text: isFirst ? `<think>\n${event.text}` : event.text }]
      }
      case 'logprobs':
      case 'opaque':
        return thoughts.has(event.index) ? [] : [{ ...event, index: written.get(event.index) ?? event.index }]
      case 'cite':
        return []
      case 'close': {
        const index = written.get(event.index) ?? event.index
        if (opening.has(event.index)) return [{ type: 'delta', index, text: '\n</think>\n' }]
        // A text block stays open, since the next block may be text as well.
        return index === text ? [] : [{ type: 'close', index }]
      }
      case 'finish':
      case 'end':
        return [...endText(), event]
      default:
        return [event]
    }
  }
}
