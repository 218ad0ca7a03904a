import { describe, expect, it } from 'vitest'
import { noUsage } from '../../../../contract/usage.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import { mask } from '../../moderation/completion-check.ts'
import { WordList } from '../../moderation/word-list.ts'
import { formats } from '../../protocols/index.ts'
import { CheckedEvents } from './moderated.ts'

function checking(format: 'openai.chat' | 'anthropic.messages', words: readonly string[], { stops = false } = {}) {
  const { texts, wire } = formats[format]
  const { stream } = wire
  if (!stream || !texts) throw new Error('This format is checked')
  const found: string[] = []
  const rule = { words: new WordList(words), stops, piecesKept: 0 }
  return { found, events: new CheckedEvents({ rule, texts, stream, wantsUsage: false, found: (word) => found.push(word) }) }
}

const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const named = (data: { readonly type: string; readonly [key: string]: unknown }) => `event: ${data.type}\n${event(data)}`
const delta = (index: number, more: object, finish: string | null = null) =>
  event({ id: 'c', choices: [{ index, delta: more, finish_reason: finish }] })
const dataOf = (text: string) => eventsIn(text).map(({ data }) => JSON.parse(data))

describe('a stream of Chat', () => {
  it('keeps its events in order: events after a withheld text wait too', () => {
    const { events } = checking('openai.chat', ['badword'])
    expect(events.take(delta(0, { content: 'a bad' }))).toBe('')
    expect(events.take(`: a comment\n\n${event({ id: 'c', choices: [] })}`)).toBe('')
    const out = events.take(delta(0, { content: 'ly' }))
    expect(dataOf(out).map(({ choices }) => choices[0]?.delta.content)).toEqual(['a ', undefined, 'badly'])
    expect(out).toContain(': a comment\n\n')
  })

  it('ends a text where another kind of output begins, or where the choice ends', () => {
    const { events } = checking('openai.chat', ['badword'])
    const tool = { tool_calls: [{ index: 0, id: 't', function: { name: 'badword', arguments: '{"badword":1}' } }] }
    const out =
      events.take(delta(0, { reasoning_content: 'so bad' }) + delta(0, { content: 'word bad' })) +
      events.take(delta(0, tool)) +
      events.take(delta(0, { content: 'word' }, 'stop'))
    expect(dataOf(out).map(({ choices }) => choices[0].delta)).toEqual([
      { reasoning_content: 'so bad' },
      { content: 'word bad' },
      tool,
      { content: 'word' },
    ])
    expect(events.flush()).toBe('')
  })

  it('passes bytes through unchanged if they need no change', () => {
    const { events, found } = checking('openai.chat', ['badword'])
    const odd = 'data:  {"choices" : [ {"index":0, "delta":{"content":"caf\\u00e9 \xc3\xa9"}} ],"x":1e3}\r\n\r\n'
    expect(events.take(odd)).toBe(odd)
    expect(events.take('data: not JSON\n\n')).toBe('data: not JSON\n\n')
    expect(found).toEqual([])
  })

  it('sends the withheld text when the stream breaks off', () => {
    const { events } = checking('openai.chat', ['badword'])
    expect(events.take(delta(0, { content: 'so bad' }))).toBe('')
    expect(dataOf(events.flush())[0].choices[0].delta.content).toBe('so bad')
  })

  it('checks each choice like a complete text, however the choices are interleaved and split', () => {
    let seed = 5
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    for (let round = 0; round < 300; round++) {
      const { events } = checking('openai.chat', ['abc', 'bca', 'cc'])
      const said = ['', '', '']
      let stream = ''
      for (let n = 0; n < 30; n++) {
        const index = random(3)
        const text = Array.from({ length: random(4) }, () => 'abc'[random(3)]).join('')
        said[index] += text
        stream += delta(index, { content: text })
      }
      const blocks = stream.split(/(?<=\n\n)/)
      let out = ''
      while (blocks.length > 0) out += events.take(blocks.splice(0, 1 + random(5)).join(''))
      out += events.flush()
      const got = ['', '', '']
      for (const { choices } of dataOf(out)) got[choices[0].index] += choices[0].delta.content
      const whole = said.map((text) => {
        const alone = checking('openai.chat', ['abc', 'bca', 'cc']).events
        return dataOf(alone.take(delta(0, { content: text })) + alone.flush())[0].choices[0].delta.content
      })
      expect(got, stream).toEqual(whole)
      expect(dataOf(out).length).toBe(30)
    }
  })

  it('that is stopped ends once, without the withheld text of other choices', () => {
    const { events, found } = checking('openai.chat', ['badword'], { stops: true })
    const out = events.take(
      delta(1, { content: 'other bad' }) + delta(0, { content: 'a badword' }, 'stop') + delta(0, { content: 'x' }),
    )
    expect(events.isStopped).toBe(true)
    expect(found).toEqual(['badword'])
    const last = events.closing(noUsage)
    expect(dataOf(out).map(({ choices }) => [choices[0].delta.content, choices[0].finish_reason])).toEqual([
      ['other ', null],
      ['a ', null],
    ])
    expect(last).toBe(
      `${event({ id: 'c', choices: [1, 0].map((index) => ({ index, delta: {}, finish_reason: 'content_filter' })) })}data: [DONE]\n\n`,
    )
    expect(events.take(delta(0, { content: 'more' }))).toBe('')
  })
})

describe('a stream of Messages', () => {
  it('checks thinking and text block by block, and leaves pings and the input of tools alone', () => {
    const { events } = checking('anthropic.messages', ['badword'])
    const block = (index: number, type: string) =>
      named({ type: 'content_block_start', index, content_block: { type, [type]: '' } })
    const piece = (index: number, one: object) => named({ type: 'content_block_delta', index, delta: one })
    const stop = (index: number) => named({ type: 'content_block_stop', index })
    const out = events.take(
      block(0, 'thinking') +
        piece(0, { type: 'thinking_delta', thinking: 'a BAD' }) +
        named({ type: 'ping' }) +
        piece(0, { type: 'thinking_delta', thinking: 'WORD, bad' }) +
        stop(0) +
        block(1, 'text') +
        piece(1, { type: 'text_delta', text: 'word' }) +
        stop(1) +
        named({ type: 'content_block_start', index: 2, content_block: { type: 'tool_use', id: 't', name: 'n', input: {} } }) +
        piece(2, { type: 'input_json_delta', partial_json: '{"a":"badword"}' }) +
        stop(2),
    )
    const all = dataOf(out)
    expect(all.map(({ type }) => type).join()).toContain('content_block_delta,ping,content_block_delta,content_block_stop')
    const texts = all
      .filter(({ type }) => type === 'content_block_delta')
      .map(({ delta: one }) => one.thinking ?? one.text ?? one.partial_json)
    expect(texts).toEqual(['a ', `${mask}, bad`, 'word', '{"a":"badword"}'])
    expect(out.match(/^event: content_block_delta$/gm)?.length).toBe(4)
  })
})
