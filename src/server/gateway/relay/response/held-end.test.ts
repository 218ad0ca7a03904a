import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { EventBlocks } from '../../../base/lib/bytes/sse.ts'
import { formats } from '../../protocols/index.ts'
import { StreamInterceptor } from './sse-interceptor.ts'

const fixtures = new URL('../../protocols/gemini-generate/fixtures/', import.meta.url)
const fixture = (name: string) => readFileSync(new URL(name, fixtures), 'latin1')

/** The output that is sent while a stream arrives, and the end that is withheld until the charge. */
function pass(text: string, size = text.length, renameTo?: string) {
  const { stream } = formats['gemini.generate'].wire
  if (!stream) throw new Error('Gemini streams')
  const interceptor = new StreamInterceptor(stream, { hideUsage: false, renameTo })
  const blocks = new EventBlocks(1_000_000)
  let passed = ''
  for (let at = 0; at < text.length; at += size) passed += interceptor.take(blocks.push(text.slice(at, at + size)))
  passed += interceptor.finish(blocks.flush())
  const { arrived } = interceptor
  return {
    passed,
    held: interceptor.ending(),
    usage: arrived.usage,
    error: arrived.error,
    isComplete: arrived.isComplete(),
    text: arrived.text(),
  }
}

const event = (parts: readonly object[], more: object = {}) =>
  `data: ${JSON.stringify({ candidates: [{ content: { parts }, ...more }] })}\r\n\r\n`
const said = (text: string, more: object = {}) => event([{ text }], more)
const usage = 'data: {"usageMetadata":{"promptTokenCount":5,"totalTokenCount":9,"candidatesTokenCount":4}}\r\n\r\n'
const stop = { finishReason: 'STOP' }

describe('the end of a stream without a terminal event', () => {
  it('is withheld until the charge, and everything before it is sent at once', () => {
    const text = fixture('text.sse')
    const border = text.indexOf('\r\n\r\n') + 4
    for (const size of [1, 7, text.length]) {
      expect(pass(text, size)).toMatchObject({ passed: text.slice(0, border), held: text.slice(border), isComplete: true })
    }
  })

  it('begins with the finish reason and includes usage that follows it', () => {
    expect(pass(said('a') + said('b', stop) + usage)).toMatchObject({
      passed: said('a'),
      held: said('b', stop) + usage,
      usage: { input: 5, output: 4 },
    })
  })

  it('is sent when more of the answer follows, as from models with a finish reason in each event', () => {
    const events = [said('a', stop), said('b', stop), said('c', stop)]
    expect(pass(events.join(''))).toMatchObject({ passed: events.slice(0, 2).join(''), held: events[2], text: 'abc' })
    const candidates = said('a', stop) + said('b', { index: 1 }) + said('c', { index: 1, ...stop })
    expect(pass(candidates)).toMatchObject({ passed: said('a', stop) + said('b', { index: 1 }) })
  })

  it('includes the event of a blocked prompt', () => {
    expect(pass(fixture('prompt_blocked.sse'))).toMatchObject({ passed: '', isComplete: true, usage: { input: 21 } })
  })

  it('does not exist without a finish reason or after an error: the stream is incomplete', () => {
    expect(pass(said('a'))).toMatchObject({ passed: said('a'), held: '', isComplete: false })
    const broken = pass(fixture('error_midstream.sse'))
    expect(broken).toMatchObject({ error: { status: 503 }, isComplete: false })
    expect(broken.passed).not.toContain('error')
  })

  it('[5] and the events before it contain no comments, event names or [DONE], which clients of Gemini cannot read', () => {
    const text = `: comment\r\n\r\n: inside\r\n${said('a')}event: x\r\n${said('b')}data: [DONE]\r\n\r\n${said('c', stop)}`
    expect(pass(text)).toMatchObject({ passed: said('a') + said('b'), held: said('c', stop) })
  })

  it('is complete without a trailing blank line', () => {
    const text = said('a') + said('b', stop).trimEnd()
    expect(pass(text).held).toBe(`${said('b', stop).trimEnd()}\n\n`)
  })

  it('names the requested model, if it names a model', () => {
    const { passed, held } = pass(fixture('text.sse'), 7, 'asked')
    expect(passed + held).toBe(fixture('text.sse').replaceAll('gemini-3.7-flash', 'asked'))
    expect(pass(said('a'), 7, 'asked').passed).toBe(said('a'))
  })
})
