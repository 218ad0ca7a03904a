import { describe, expect, it } from 'vitest'
import { fixture, fixturesOf } from '../../../../../test/helpers/upstream.ts'
import { noUsage } from '../../../../contract/usage.ts'
import { EventBlocks } from '../../../base/lib/bytes/sse.ts'
import type { CallerFormat } from '../../protocols/format.ts'
import { formats } from '../../protocols/index.ts'
import type { StreamFormat } from '../../protocols/wire-format.ts'
import { StreamInterceptor } from './sse-interceptor.ts'

const chat = streamOf('openai.chat')
const messages = streamOf('anthropic.messages')

describe('passing a stream through', () => {
  const cases: [string, StreamFormat][] = [
    ...fixturesOf('openai-chat').map((path): [string, StreamFormat] => [path, chat]),
    ...fixturesOf('anthropic').map((path): [string, StreamFormat] => [path, messages]),
    ['openai-other/completions.sse', streamOf('openai.completions')],
  ]

  it.each(cases)('%s: returns the same bytes, text and usage when it is split at any byte', (path, format) => {
    const bytes = fixture(path)
    const whole = pass(format, [bytes])
    for (let cut = 1; cut < bytes.length; cut++) {
      expect(pass(format, [bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(whole)
    }
    for (const size of [1, 2, 7, 64]) expect(pass(format, pieces(bytes, size))).toEqual(whole)

    if (whole.error) return
    expect(whole.passed + whole.terminal).toBe(bytes.toString())
    expect(whole.isComplete).toBe(true)
  })

  it('reads the usage that the upstream reports', () => {
    expect(pass(chat, [fixture('openai-chat/text.sse')]).usage).toEqual({ ...noUsage, input: 21, output: 5 })
    expect(pass(messages, [fixture('anthropic/cached_usage.sse')]).usage).toEqual({
      ...noUsage,
      tier: { service_tier: 'standard' },
      input: 200,
      cacheRead: 2000,
      cacheWrite: 300,
      cacheWrite1h: 100,
      output: 2,
    })
  })

  it('withholds the terminal event and passes nothing after it', () => {
    const read = pass(chat, [Buffer.concat([fixture('openai-chat/text.sse'), Buffer.from('data: {"late":1}\n\n')])])
    expect(read.terminal).toBe('data: [DONE]\n\n')
    expect(read.passed).not.toContain('late')
    expect(pass(messages, [fixture('anthropic/text.sse')]).terminal).toBe(
      'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    )
  })

  it('removes a usage event that the caller did not request, but reads it', () => {
    const hidden = pass(chat, [fixture('openai-chat/text.sse')], { hideUsage: true })
    expect(hidden.usage?.input).toBe(21)
    expect(hidden.passed).not.toContain('"choices":[]')
    expect(hidden.passed).toContain('"finish_reason":"stop"')
    const inChoice = pass(chat, [fixture('openai-chat/usage_in_last_choice_chunk.sse')], { hideUsage: true })
    expect(inChoice.passed).toContain('"finish_reason":"stop"')
    expect(inChoice.usage?.output).toBe(5)
  })

  it('restores the model name of the caller, and changes nothing else', () => {
    const bytes = fixture('openai-chat/text.sse')
    expect(pass(chat, pieces(bytes, 7), { renameTo: 'mine' }).passed).toBe(
      bytes.toString().replace('data: [DONE]\n\n', '').replaceAll('gpt-6-sol', 'mine'),
    )
    const anthropic = fixture('anthropic/text.sse').toString()
    const renamed = pass(messages, [Buffer.from(anthropic)], { renameTo: 'mine' })
    expect(renamed.passed + renamed.terminal).toBe(anthropic.replace('claude-sonnet-5-5', 'mine'))
  })

  it('stops before an error that the upstream sends in the stream', () => {
    const read = pass(chat, [fixture('openai-chat/error_midstream.sse')])
    expect(read.error?.type).toBe('server_error')
    expect(read.passed).toContain('The har')
    expect(read.passed).not.toContain('"error"')
    expect(read.isComplete).toBe(false)
    expect(pass(messages, [fixture('anthropic/error_midstream.sse')]).error?.status).toBe(529)
  })

  it('[280] reads an error in a field of the stream, which is no event', () => {
    const text = fixture('anthropic/text.sse').toString()
    const cut = text.slice(0, text.indexOf('event: message_delta'))
    const read = pass(messages, pieces(Buffer.from(`${cut}error: {"type":"overloaded_error","message":"Try later."}\n\n`), 7))
    expect(read.error).toMatchObject({ message: 'Try later.', status: 529 })
    expect(read.passed).toBe(cut)
    expect(pass(chat, [Buffer.from('error: too many calls\n\n')]).error?.message).toBe('too many calls')
  })

  it('[278] leaves out the same beginning once more, and its usage; another message is an error', () => {
    const text = fixture('anthropic/text.sse').toString()
    const beginning = text.slice(0, text.indexOf('event: content_block_start'))
    const again = beginning.replace(/"input_tokens":\d+/, '"input_tokens":9000')
    const whole = pass(messages, [Buffer.from(text)])
    for (const at of [beginning.length, text.indexOf('event: content_block_delta')])
      expect(pass(messages, pieces(Buffer.from(text.slice(0, at) + again + text.slice(at)), 64))).toEqual(whole)
    const other = beginning.replace(/"id":"msg_/, '"id":"msg_other_')
    expect(pass(messages, [Buffer.from(beginning + other + text.slice(beginning.length))]).error?.status).toBe(502)
  })

  it('treats a stream without a terminal event as complete only if it had a finish reason', () => {
    const bytes = fixture('openai-chat/no_done.sse')
    expect(pass(chat, [bytes]).isComplete).toBe(true)
    expect(pass(chat, [bytes.subarray(0, bytes.indexOf('"finish_reason":"stop"'))]).isComplete).toBe(false)
  })

  it('collects the text of a stream longer than its byte buffer', () => {
    const event = (text: string) => Buffer.from(`data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}}}]}\n\n`)
    const read = pass(
      chat,
      Array.from({ length: 3000 }, (_, index) => event(`word${index} 中`)),
    )
    expect(read.text).toBe(Array.from({ length: 3000 }, (_, index) => `word${index} 中`).join(''))
  })

  it.each<CallerFormat>(['openai.chat', 'openai.completions', 'gemini.generate'])(
    '[6] never passes a ping of another protocol to a client of %s, whatever its data',
    (format) => {
      const own =
        format === 'gemini.generate'
          ? [{ candidates: [{ content: { parts: [{ text: 'a' }] } }] }]
          : [{ choices: [{ index: 0, delta: { content: 'a' }, text: 'a' }] }]
      const piece = `data: ${JSON.stringify(own[0])}\n\n`
      for (const data of ['{"type":"ping"}', '{}', '', 'keep-alive', '{"type":"ping","cost":"0"}']) {
        const ping = `event: ping\ndata: ${data}\n\n`
        const read = pass(streamOf(format), [Buffer.from(ping + piece + ping + piece + ping)])
        expect([data, read.passed, read.error]).toEqual([data, piece + piece, undefined])
      }
    },
  )
})

function streamOf(format: CallerFormat): StreamFormat {
  const { stream } = formats[format].wire
  if (!stream) throw new Error(`${format} has no stream`)
  return stream
}

function pieces(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
}

function pass(format: StreamFormat, chunks: Buffer[], more: { hideUsage?: boolean; renameTo?: string } = {}) {
  const interceptor = new StreamInterceptor(format, { hideUsage: more.hideUsage ?? false, renameTo: more.renameTo })
  const blocks = new EventBlocks(1_000_000)
  let passed = ''
  for (const chunk of chunks) {
    const block = blocks.push(chunk.toString('latin1'))
    if (block !== '') passed += interceptor.take(block)
  }
  const rest = blocks.flush()
  if (rest !== '') passed += interceptor.take(rest)
  const { arrived } = interceptor
  return {
    passed: Buffer.from(passed, 'latin1').toString(),
    terminal: arrived.isEnded ? interceptor.ending() : '',
    usage: arrived.usage,
    error: arrived.error,
    text: arrived.text(),
    isComplete: arrived.isComplete(),
  }
}
