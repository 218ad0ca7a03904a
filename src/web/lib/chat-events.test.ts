import { describe, expect, it } from 'vitest'
import { type ChatEvent, linesOf, readChatEvents, readErrorText } from './chat-events.ts'

const delta = (fields: object, rest: object = {}) => `data: ${JSON.stringify({ choices: [{ delta: fields, ...rest }] })}`

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

function eventsOf(lines: string[]): Promise<ChatEvent[]> {
  return all(readChatEvents(lines))
}

function streamOf(chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}

describe('the events of a chat stream', () => {
  it('contain content, reasoning under either name, usage and the end', async () => {
    const lines = [
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'hm' }),
      delta({ reasoning: '…' }),
      ': a comment',
      delta({ content: '你好' }),
      'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}',
      'data: [DONE]',
      delta({ content: 'never read' }),
    ]
    expect(await eventsOf(lines)).toEqual([
      { kind: 'reasoning', text: 'hm' },
      { kind: 'reasoning', text: '…' },
      { kind: 'content', text: '你好' },
      { kind: 'usage', usage: { prompt_tokens: 3, completion_tokens: 2 } },
      { kind: 'done', complete: true },
    ])
  })

  it('contain images, and no malformed ones', async () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }, null, { image_url: null }, 7]
    expect(await eventsOf([delta({ content: '', images }), delta({ images: 'x' }), 'data: [DONE]'])).toEqual([
      { kind: 'image', url: 'data:image/png;base64,AAAA' },
      { kind: 'done', complete: true },
    ])
  })

  it('skip lines that are broken or unknown', async () => {
    expect(
      await eventsOf(['data: {"choices"', 'event: ping', 'data: 7', 'data: null', delta({ content: 'a' }), 'data: [DONE]']),
    ).toEqual([
      { kind: 'content', text: 'a' },
      { kind: 'done', complete: true },
    ])
  })

  it('end incomplete when the stream stops early, and complete when the model had finished', async () => {
    expect(await eventsOf([delta({ content: 'a' })])).toContainEqual({ kind: 'done', complete: false })
    expect(await eventsOf([delta({ content: 'a' }, { finish_reason: 'stop' })])).toContainEqual({ kind: 'done', complete: true })
  })

  it('end with an error that arrives in the middle', async () => {
    expect(await eventsOf([delta({ content: 'a' }), 'data: {"error":{"message":"overloaded"}}', 'data: [DONE]'])).toEqual([
      { kind: 'content', text: 'a' },
      { kind: 'error', message: 'overloaded' },
    ])
  })
})

describe('the lines of a byte stream', () => {
  it('are the same wherever the chunks are split, even within a character', async () => {
    const bytes = new TextEncoder().encode('data: 一\r\n\r\ndata: 二\nlast')
    const whole = await all(linesOf(streamOf([bytes])))
    expect(whole).toEqual(['data: 一', '', 'data: 二', 'last'])
    for (let at = 1; at < bytes.length; at++) {
      const halves = [bytes.slice(0, at), bytes.slice(at)]
      expect(await all(linesOf(streamOf(halves)))).toEqual(whole)
    }
  })
})

describe('the text of an error body', () => {
  it('is found in both shapes, and is the body itself otherwise', () => {
    expect(readErrorText('{"error":{"message":"quota"}}')).toBe('quota')
    expect(readErrorText('{"success":false,"message":"额度不足"}')).toBe('额度不足')
    expect(readErrorText('<html>502</html>')).toBe('<html>502</html>')
  })
})
