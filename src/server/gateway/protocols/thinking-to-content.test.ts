import { describe, expect, it } from 'vitest'
import { grammarFaults } from '../../../../test/helpers/codecs.ts'
import { anyReply } from '../../../../test/helpers/replies.ts'
import type { ReplyEvent } from './reply-events.ts'
import { thinkingToContent } from './thinking-to-content.ts'

function told(events: readonly ReplyEvent[]): ReplyEvent[] {
  const step = thinkingToContent()
  return events.flatMap((event) => step(event))
}

const textOf = (events: readonly ReplyEvent[]) => events.map((event) => (event.type === 'delta' ? event.text : '')).join('')
const blocksOf = (events: readonly ReplyEvent[]) => events.flatMap((event) => (event.type === 'open' ? [event.block] : []))

describe('reasoning as a part of the text', () => {
  it('is between tags, before the text, in one block', () => {
    const events = told([
      { type: 'start' },
      { type: 'open', index: 0, block: 'reasoning' },
      { type: 'delta', index: 0, text: 'so ' },
      { type: 'delta', index: 0, text: 'it is' },
      { type: 'opaque', index: 0, opaque: { family: 'anthropic', kind: 'signature', value: 'c2ln' } },
      { type: 'close', index: 0 },
      { type: 'open', index: 1, block: 'text' },
      { type: 'delta', index: 1, text: 'Yes.' },
      { type: 'close', index: 1 },
      { type: 'finish', reason: 'stop' },
      { type: 'end' },
    ])
    expect(textOf(events)).toBe('<think>\nso it is\n</think>\nYes.')
    expect(blocksOf(events)).toEqual(['text'])
    expect(grammarFaults(events)).toEqual([])
  })

  it('[162] leaves no tag where the model did not think', () => {
    const events = told([
      { type: 'start' },
      { type: 'open', index: 0, block: 'reasoning' },
      { type: 'close', index: 0 },
      { type: 'open', index: 1, block: 'text' },
      { type: 'delta', index: 1, text: 'Yes.' },
      { type: 'close', index: 1 },
      { type: 'finish', reason: 'stop' },
      { type: 'end' },
    ])
    expect(textOf(events)).toBe('Yes.')
    expect(grammarFaults(events)).toEqual([])
  })

  it('keeps the grammar, the calls and every text of any reply', () => {
    for (let seed = 0; seed < 2000; seed++) {
      const before = anyReply(seed)
      const events = told(before)
      expect([seed, grammarFaults(events)]).toEqual([seed, []])
      expect(blocksOf(events).filter((block) => block === 'reasoning')).toEqual([])
      expect(textOf(events).replaceAll(/<think>\n|\n<\/think>\n/g, '')).toBe(textOf(before))
    }
  })
})
