import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { chat, claude, event, httpUpstream, model, piece, settledCharges } from './stage.ts'

const gemini = 'gemini-2.5-flash'
const anthropic = (type: string, more: object) => `event: ${type}\n${event({ type, ...more })}`
const message = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: claude,
  content: [],
  usage: { input_tokens: 5, output_tokens: 1 },
}

/** Each dialect: its request, whole and streamed, and the first events of a stream. */
const dialects = [
  ['/v1/chat/completions', '/v1/chat/completions', chat(), piece('Rye.')],
  [
    '/v1/responses',
    '/v1/responses',
    { model, input: 'Hi' },
    event({
      type: 'response.created',
      sequence_number: 0,
      response: { id: 'r', object: 'response', status: 'in_progress', model },
    }) + event({ type: 'response.output_text.delta', sequence_number: 1, item_id: 'm', delta: 'Rye.' }),
  ],
  [
    '/v1/messages',
    '/v1/messages',
    { model: claude, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
    anthropic('message_start', { message }) +
      anthropic('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
      anthropic('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Rye.' } }),
  ],
  [
    `/v1beta/models/${gemini}:generateContent`,
    `/v1beta/models/${gemini}:streamGenerateContent?alt=sse`,
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    event({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Rye.' }] } }] }),
  ],
] as const

/** Unpacked it is larger than what an answer of its length can have. */
const packed = gzipSync(Buffer.alloc(20_000_000, '{"a":1},'))
const longLine = `data: ${'a'.repeat(14 * 1024 * 1024)}`
const told = 'is larger than this site accepts'
const languages = { 'accept-language': 'en' }

anyDatabase('[T261] an answer that is too large', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  async function replying(type: string, body: string | Buffer, headers: Record<string, string> = {}) {
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.on('error', () => {})
      response.writeHead(200, { 'content-type': type, ...headers }).end(body)
    })
    const staged = await sharedStage(url)
    await addChannel(staged.server, { url, type: 14, models: claude })
    await addChannel(staged.server, { url, type: 24, models: gemini })
    return staged
  }

  it.each(dialects)(
    'of %s is told as one, and the client must not repeat the request',
    async (path, streamPath, body, opening) => {
      const isGemini = path.includes('v1beta')
      const streamed = isGemini ? body : { ...body, stream: true }
      const whole = await replying('application/json', packed, { 'content-encoding': 'gzip' })
      const early = await replying('text/event-stream', longLine)
      for (const answer of [await whole.ask(body, path, languages), await early.ask(streamed, streamPath, languages)]) {
        expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false'])
        expect(answer.text).toContain(told)
        expect(answer.text).not.toMatch(/retry|no valid answer/)
      }

      const late = await replying('text/event-stream', opening + longLine)
      const { status, text } = await late.ask(streamed, streamPath, languages)
      expect([status, text]).toEqual([200, expect.stringContaining('Rye.')])
      expect(text).toContain(told)
      expect(text).not.toMatch(/please retry|no valid answer/)
      // The prompt and what was received, as for every interrupted stream.
      expect(await settledCharges(late.server)).toHaveLength(1)
      expect(await settledCharges(whole.server)).toHaveLength(0)
      await requireBalancedBooks(late.server)
    },
  )

  it('has a sentence in both languages', async () => {
    const { ask } = await replying('application/json', packed, { 'content-encoding': 'gzip' })
    const { text } = await ask(chat(), undefined, { 'accept-language': 'zh-CN' })
    expect(JSON.parse(text).error).toMatchObject({ type: 'invalid_request_error', code: 'upstream_answer_too_large' })
    expect(text).toMatch(/上游的回答超过本站可接收的大小|is larger than this site accepts/)
  })
})
