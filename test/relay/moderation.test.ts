import { describe, expect, it } from 'vitest'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { ask, chat, claude, completion, event, eventually, httpUpstream, model, piece, settledCharges, stage } from './stage.ts'

const mask = '**###**'

async function checkCompletions(server: TestServer, { stops }: { stops: boolean }) {
  await setOptions(server, { SensitiveWords: 'badword\n敏感词', CheckSensitiveOnCompletionEnabled: true })
  if (!stops) await setOptions(server, { StopOnSensitiveEnabled: false })
}

/** An upstream that answers with these pieces, one after the other. */
const streaming = (pieces: readonly string[], type = 'text/event-stream') =>
  httpUpstream(async (_request, response) => {
    response.setHeader('content-type', type)
    for (const one of pieces) {
      response.write(one)
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    response.end()
  })

const eventsOf = (text: string) =>
  text
    .split(/\r?\n\r?\n/)
    .map((block) => /^data: (.*)$/m.exec(block)?.[1] ?? '')
    .filter((data) => data.startsWith('{'))
    .map((data) => JSON.parse(data))

const named = (data: { readonly type: string; readonly [key: string]: unknown }) => `event: ${data.type}\n${event(data)}`

const chatPieces = (...texts: string[]) => [
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model,
    choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
  }),
  ...texts.map((text) => piece(text)),
  piece('', 'stop'),
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model,
    choices: [],
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  }),
  event('[DONE]'),
]
const chatText = (text: string) =>
  eventsOf(text)
    .map((data) => data.choices?.[0]?.delta?.content ?? '')
    .join('')
const finishOf = (text: string) =>
  eventsOf(text)
    .map((data) => data.choices?.[0]?.finish_reason)
    .filter((reason) => reason)

const messagePieces = (...texts: string[]) => [
  named({
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: claude,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 1 },
    },
  }),
  named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ...texts.map((text) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  named({ type: 'content_block_stop', index: 0 }),
  named({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 12 } }),
  named({ type: 'message_stop' }),
]
const messageText = (text: string) =>
  eventsOf(text)
    .map((data) => data.delta?.text ?? '')
    .join('')

const texts = ['It is ', 'a bad', 'wor', 'd, a bad', ' word and 敏', '感', '词.']

anyDatabase('listed words', (_fresh, kind) => {
  it('in a prompt cause a refusal, free of charge, that does not quote them', async () => {
    const { server, ask } = await stage(kind, await streaming([completion()], 'application/json'))
    for (const words of ['a Test_Sensitive b', 'ｔｅｓｔ＿sensitive', 'test_\u200Bsensitive']) {
      const refused = await ask(chat({ messages: [{ role: 'user', content: words }] }))
      expect(refused.status, words).toBe(400)
      expect(JSON.parse(refused.text).error.code).toBe('sensitive_words_detected')
      expect(refused.text).not.toContain('test_sensitive')
    }
    const long = await ask(
      chat({ messages: [{ role: 'user', content: [{ type: 'text', text: `${'x '.repeat(500_000)}TEST_SENSITIVE` }] }] }),
    )
    expect(long.status).toBe(400)
    expect(
      (await ask({ model, max_tokens: 5, messages: [{ role: 'user', content: 'test_sensitive' }] }, '/v1/messages')).text,
    ).toContain('invalid_request_error')
    expect((await ask(chat())).status).toBe(200)
    await setOptions(server, { CheckSensitiveOnPromptEnabled: false })
    expect((await ask(chat({ messages: [{ role: 'user', content: 'test_sensitive' }] }))).status).toBe(200)
    expect((await settledCharges(server)).length).toBe(2)
    await requireBalancedBooks(server)
  })

  it('in a stream are masked across its chunks, and everything else passes', async () => {
    const { server, ask } = await stage(kind, await streaming(chatPieces(...texts)))
    const untouched = await ask(chat({ stream: true }))
    await checkCompletions(server, { stops: false })
    const { text } = await ask(chat({ stream: true }))
    expect(chatText(text)).toBe(`It is a ${mask}, a bad word and ${mask}.`)
    expect(finishOf(text)).toEqual(['stop'])
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(eventsOf(text).length).toBe(eventsOf(untouched.text).length)
    await settledCharges(server)
    await requireBalancedBooks(server)
  })

  it('in a stream end it as its format requires, and the output is charged', async () => {
    let isCut = false
    const url = await httpUpstream((_request, response) => {
      response.setHeader('content-type', 'text/event-stream')
      for (const one of chatPieces('It is ', 'a bad', 'word and more').slice(0, 4)) response.write(one)
      response.once('close', () => {
        isCut = true
      })
    })
    const { server, ask } = await stage(kind, url)
    await checkCompletions(server, { stops: true })
    const { status, text } = await ask(chat({ stream: true, stream_options: { include_usage: true } }))
    expect(status).toBe(200)
    expect(chatText(text)).toBe('It is a ')
    expect(finishOf(text)).toEqual(['content_filter'])
    expect(eventsOf(text).at(-1)).toMatchObject({ id: 'c', choices: [], usage: { completion_tokens: expect.any(Number) } })
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    await eventually('the upstream is no longer read', () => isCut)

    expect((await settledCharges(server)).length).toBe(1)
    const log = (await books(server)).logs.at(-1)
    expect(log?.completion_tokens).toBeGreaterThan(3)
    expect(JSON.parse(log?.other ?? '{}')).toMatchObject({ estimated: true, interrupted: 'moderation' })
    await requireBalancedBooks(server)
  })
})

describe('in each format of callers', () => {
  const checked = { SensitiveWords: 'badword\n敏感词', CheckSensitiveOnCompletionEnabled: true }
  const maskingStage = sharedStages('sqlite', { ...checked, StopOnSensitiveEnabled: false })
  const stoppingStage = sharedStages('sqlite', { ...checked, StopOnSensitiveEnabled: true })
  const onBoth = (url: string, channel?: Record<string, unknown>) =>
    Promise.all([maskingStage(url, channel), stoppingStage(url, channel)])

  const cases = {
    'openai.chat, whole': {
      path: '/v1/chat/completions',
      request: chat(),
      answer: [
        completion({ choices: [{ index: 0, message: { role: 'assistant', content: 'a badword here' }, finish_reason: 'stop' }] }),
      ],
      masked: (text: string) => JSON.parse(text).choices[0].message.content,
      stopped: (text: string) => [JSON.parse(text).choices[0].message.content, JSON.parse(text).choices[0].finish_reason],
      finish: 'content_filter',
    },
    'openai.completions, streamed': {
      path: '/v1/completions',
      request: { model, prompt: 'p', stream: true },
      answer: [
        ...['a bad', 'word here'].map((text) =>
          event({ id: 'c', object: 'text_completion', model, choices: [{ index: 0, text, finish_reason: null }] }),
        ),
        event({ id: 'c', object: 'text_completion', model, choices: [{ index: 0, text: '', finish_reason: 'stop' }] }),
        event('[DONE]'),
      ],
      masked: (text: string) =>
        eventsOf(text)
          .map((data) => data.choices[0].text)
          .join(''),
      stopped: (text: string) => [
        eventsOf(text)
          .map((data) => data.choices[0].text)
          .join(''),
        finishOf(text)[0],
      ],
      finish: 'content_filter',
    },
    'anthropic.messages, whole': {
      path: '/v1/messages',
      request: { model: claude, max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] },
      answer: [
        JSON.stringify({
          id: 'm',
          type: 'message',
          role: 'assistant',
          model: claude,
          content: [
            { type: 'text', text: 'a badword here' },
            { type: 'text', text: '' },
          ],
          stop_reason: 'end_turn',
          stop_sequence: null,
          usage: { input_tokens: 9, output_tokens: 5 },
        }),
      ],
      masked: (text: string) => JSON.parse(text).content[0].text,
      stopped: (text: string) => [JSON.parse(text).content[0].text, JSON.parse(text).stop_reason],
      finish: 'refusal',
    },
    'anthropic.messages, streamed': {
      path: '/v1/messages',
      request: { model: claude, max_tokens: 50, stream: true, messages: [{ role: 'user', content: 'hi' }] },
      answer: messagePieces('a bad', 'word here'),
      masked: messageText,
      stopped: (text: string) => [
        messageText(text),
        eventsOf(text).find((data) => data.type === 'message_delta')?.delta.stop_reason,
      ],
      finish: 'refusal',
    },
    'gemini.generate, streamed': {
      path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
      request: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
      answer: [
        ...['a bad', 'word here'].map(
          (text) =>
            `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }], modelVersion: model })}\r\n\r\n`,
        ),
        `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 }], usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 }, modelVersion: model })}\r\n\r\n`,
      ],
      masked: (text: string) =>
        eventsOf(text)
          .map((data) => data.candidates[0].content.parts[0].text)
          .join(''),
      stopped: (text: string) => [
        eventsOf(text)
          .map((data) => data.candidates[0].content.parts[0].text)
          .join(''),
        eventsOf(text).at(-1).candidates[0].finishReason,
      ],
      finish: 'BLOCKLIST',
    },
    'openai.responses, streamed': {
      path: '/v1/responses',
      request: { model, input: 'hi', stream: true },
      answer: responsesAnswer(['a bad', 'word here']),
      masked: (text: string) => {
        const events = eventsOf(text)
        const pieces = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta)
        const last = events.at(-1)
        expect(last.type).toBe('response.completed')
        expect(last.response.output[0].content[0].text).toBe(pieces.join(''))
        expect(events.find(({ type }) => type === 'response.output_text.done').text).toBe(pieces.join(''))
        expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index))
        return pieces.join('')
      },
      stopped: (text: string) => {
        const events = eventsOf(text)
        const last = events.at(-1)
        expect(last).toMatchObject({
          type: 'response.incomplete',
          response: { id: 'r', status: 'incomplete', usage: { output_tokens: expect.any(Number) } },
        })
        return [last.response.output[0].content[0].text, last.response.incomplete_details.reason]
      },
      finish: 'content_filter',
    },
  }

  it.each(Object.entries(cases))('%s: masks the word, or stops there', async (_name, one) => {
    const url = await streaming(one.answer, one.answer[0]?.startsWith('{') ? 'application/json' : 'text/event-stream')
    const type = one.path.includes('messages') ? 14 : one.path.includes('v1beta') ? 24 : 1
    const [masking, stopping] = await onBoth(url, { models: `${model},${claude}`, type })
    const masked = await masking.ask(one.request, one.path)
    expect(masked.status, masked.text).toBe(200)
    expect(one.masked(masked.text)).toBe(`a ${mask} here`)

    const stopped = await stopping.ask(one.request, one.path)
    expect(stopped.status, stopped.text).toBe(200)
    expect(one.stopped(stopped.text)).toEqual(['a ', one.finish])
    expect(stopped.text).not.toContain('word')
    for (const { server, charged } of [masking, stopping]) {
      expect(await charged()).toHaveLength(1)
      await requireBalancedBooks(server)
    }
  })

  it("a translated stream, and a whole answer sent as a stream, are checked in the caller's form", async () => {
    const translated = await onBoth(await streaming(messagePieces('a bad', 'word here')), { models: claude, type: 14 })
    const whole = completion({
      choices: [{ index: 0, message: { role: 'assistant', content: 'a badword here' }, finish_reason: 'stop' }],
    })
    const turned = await onBoth(await streaming([whole], 'application/json'))
    for (const [asked, [masking, stopping]] of [
      [claude, translated],
      [model, turned],
    ] as const) {
      const request = chat({ model: asked, stream: true, max_tokens: 50 })
      expect(chatText((await masking.ask(request)).text), asked).toBe(`a ${mask} here`)
      const { text } = await stopping.ask(request)
      expect([chatText(text), finishOf(text)], asked).toEqual(['a ', ['content_filter']])
    }
  })

  it('each choice of an answer is checked separately, even when their pieces alternate', async () => {
    const of = (index: number, content: string) =>
      event({
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model,
        choices: [{ index, delta: { content }, finish_reason: null }],
      })
    const url = await streaming([
      of(0, 'x bad'),
      of(1, 'y bad'),
      of(0, 'word x'),
      of(1, 'ly y'),
      of(0, ' bad'),
      of(1, ' ba'),
      piece('', 'stop'),
      event('[DONE]'),
    ])
    const [masking] = await onBoth(url)
    const { text } = await masking.ask(chat({ stream: true, n: 2 }))
    const choice = (index: number) =>
      eventsOf(text)
        .flatMap((data) => data.choices)
        .filter((one) => one.index === index)
        .map((one) => one.delta.content ?? '')
        .join('')
    expect([choice(0), choice(1)]).toEqual([`x ${mask} x bad`, 'y badly y ba'])
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('the configured number of last chunks is withheld, and an answer without a listed word passes byte for byte', async () => {
    const server = await serverOfTest('sqlite')
    const clean = chatPieces('nothing ', 'to be ', 'seen ', 'here')
    await addChannel(server, { url: await streaming(clean), models: model })
    await addChannel(server, { url: await streaming(chatPieces('one ', 'two ', 'three ', 'badword ', 'four')), models: 'gpt-4o' })
    const { key } = await addToken(server)
    await checkCompletions(server, { stops: true })
    const untouched = await ask(server, key, chat({ stream: true, stream_options: { include_usage: true } }))
    expect(untouched.text).toBe(clean.join(''))
    await setOptions(server, { StreamCacheQueueLength: 2 })
    const late = await ask(server, key, chat({ stream: true }))
    expect(chatText(late.text)).toBe('nothing to be seen here')
    expect(finishOf(late.text)).toEqual(['stop'])
    expect(chatText((await ask(server, key, chat({ model: 'gpt-4o', stream: true }))).text)).toBe('one ')
  })
})

function responsesAnswer(pieces: readonly string[]): string[] {
  const text = pieces.join('')
  const item = { type: 'message', id: 'msg', role: 'assistant' }
  const part = (said: string) => ({ type: 'output_text', text: said, annotations: [] })
  const response = { id: 'r', object: 'response', created_at: 1, model, status: 'in_progress', output: [] as unknown[] }
  const place = { item_id: 'msg', output_index: 0, content_index: 0 }
  const done = { ...item, status: 'completed', content: [part(text)] }
  const events = [
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    { type: 'response.content_part.added', ...place, part: part('') },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
    { type: 'response.output_text.done', ...place, text },
    { type: 'response.content_part.done', ...place, part: part(text) },
    { type: 'response.output_item.done', output_index: 0, item: done },
    {
      type: 'response.completed',
      response: {
        ...response,
        status: 'completed',
        output: [done],
        usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 },
      },
    },
  ]
  return events.map((data, sequence_number) => named({ ...data, sequence_number }))
}
