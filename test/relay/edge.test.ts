import { randomUUID } from 'node:crypto'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { wavOf } from '../../src/server/gateway/protocols/direct/wav.ts'
import { serverOfTest } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { listeningInTest } from '../helpers/listening.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { directStage } from './direct-stage.ts'
import { sharedStages } from './shared-stage.ts'
import {
  ask,
  chat,
  eventually,
  model,
  type ProgrammedReply,
  requestBytes,
  running,
  settledCharges,
  speak,
  stage,
} from './stage.ts'

const asPoor = ask
const host = 'host: x\r\n'

const sharedStage = sharedStages()

async function door() {
  const upstream = await upstreamOfTest({ models: [model] })
  return { upstream, ...(await sharedStage(upstream.url)) }
}

describe('errors before authentication, in the dialect of the route', () => {
  interface Shape {
    readonly path: string
    readonly type: Record<number, string>
    body(status: number, json: Record<string, unknown>): void
  }
  const openai: Shape = {
    path: '/v1/chat/completions',
    type: { 401: 'invalid_request_error', 413: 'invalid_request_error', 415: 'invalid_request_error', 403: 'insufficient_quota' },
    body(status, json) {
      const { error } = json as { error: Record<string, unknown> }
      expect(Object.keys(json)).toEqual(['error'])
      expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type'])
      if (this.type[status]) expect(error.type).toBe(this.type[status])
    },
  }
  const anthropic: Shape = {
    path: '/v1/messages',
    type: {
      400: 'invalid_request_error',
      401: 'authentication_error',
      403: 'billing_error',
      404: 'not_found_error',
      405: 'invalid_request_error',
      413: 'request_too_large',
      529: 'overloaded_error',
    },
    body(status, json) {
      const { type, error, request_id } = json as { type: string; error: Record<string, unknown>; request_id: string }
      expect([type, typeof request_id]).toEqual(['error', 'string'])
      expect(Object.keys(error).sort()).toEqual(['message', 'type'])
      if (this.type[status]) expect(error.type).toBe(this.type[status])
    },
  }

  it.each([
    ['openai', openai],
    ['anthropic', anthropic],
  ] as const)('%s', async (dialect, shape) => {
    const { server, token } = await door()
    const poor = await addToken(server, { unlimited_quota: false, remain_quota: 1 })
    const body = dialect === 'openai' ? chat() : { ...chat(), max_tokens: 1000 }
    await addChannel(server, { url: 'http://127.0.0.1:9', type: 14, models: 'claude-3-haiku-20240307' })
    const send = (more: { key?: string; path?: string; method?: string; body?: unknown; headers?: Record<string, string> }) =>
      fetch(server.url + (more.path ?? shape.path), {
        method: more.method ?? 'POST',
        headers: { authorization: `Bearer ${more.key ?? token.key}`, 'content-type': 'application/json', ...more.headers },
        ...(more.method === 'GET' ? {} : { body: typeof more.body === 'string' ? more.body : JSON.stringify(more.body ?? body) }),
      })
    const cases: [number, Parameters<typeof send>[0]][] = [
      [401, { key: 'sk-wrong' }],
      [400, { body: '{' }],
      [404, { body: { ...body, model: 'no-such-model' } }],
      // OpenAI lists stored completions there.
      [dialect === 'openai' ? 501 : 405, { method: 'GET' }],
      [405, { method: 'DELETE' }],
      [413, { headers: { 'content-encoding': 'gzip' }, body: 'x' }],
      [415, { headers: { 'content-encoding': 'rot13' } }],
      [403, { key: poor.key, body: { ...body, model: dialect === 'openai' ? model : 'claude-3-haiku-20240307' } }],
      [404, { path: '/v1/nonsense', headers: dialect === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {} }],
      [501, { path: dialect === 'openai' ? '/v1/skills' : '/v1/messages/drafts' }],
    ]
    for (const [status, more] of cases) {
      const response = await send(status === 413 ? { ...more, headers: { ...more.headers }, body: 'x' } : more)
      const text = await response.text()
      const wanted = status === 413 ? 400 : status
      expect([response.status, more, text]).toEqual([wanted, more, text])
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(response.headers.get(dialect === 'openai' ? 'x-request-id' : 'request-id')).toMatch(/^\d{17}\w{12}$/)
      if (status === 405) expect(response.headers.get('allow')).toBe('POST')
      shape.body(response.status, JSON.parse(text))
    }

    // A vendor of embeddings answers no conversations, in any dialect.
    await addChannel(server, { url: 'http://127.0.0.1:9', type: 44, models: 'gpt-3.5-turbo' })
    const answer = await send({ body: { ...body, model: 'gpt-3.5-turbo' } })
    expect(answer.status).toBe(400)
    shape.body(answer.status, JSON.parse(await answer.text()))
    const unserved = await send({ body: { ...body, model: 'gpt-4-32k' } })
    expect(unserved.status).toBe(dialect === 'openai' ? 503 : 529)
    shape.body(unserved.status, JSON.parse(await unserved.text()))
    expect(await settledCharges(server)).toEqual([])
  })

  it('[148] Gemini paths that are not offered are refused in the form of Gemini', async () => {
    const { server, token } = await door()
    const answer = await ask(server, token.key, {}, '/v1beta/models/gemini-2.0-flash:asyncBatchEmbedContent')
    expect([answer.status, JSON.parse(answer.text).error.status]).toEqual([501, 'UNIMPLEMENTED'])
  })

  it('[T043] HEAD and OPTIONS need no key and are answered without a body', async () => {
    const { server } = await door()
    const head = await fetch(`${server.url}/v1/models`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([405, ''])
    const preflight = await fetch(`${server.url}/v1/chat/completions`, { method: 'OPTIONS' })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
    const answer = await fetch(`${server.url}/v1/models`, { headers: { origin: 'https://evil.test' } })
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([401, '*'])
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('a server that aborts running requests refuses new ones with 503 and Messages with 529', async () => {
    const { server, token } = await door()
    const { relayRouter } = await import('../../src/server/gateway/relay/router.ts')
    const { clientReader } = await import('../../src/server/base/lib/net/client-address.ts')
    const nothing = () => Promise.resolve()
    const lane = relayRouter(server.app, clientReader(''), { task: nothing, file: nothing, batch: nothing })
    lane.cut()
    const { createServer } = await import('node:http')
    const stopping = createServer((request, response) => void lane.takes(request, response))
    const url = await listeningInTest(stopping)
    const statuses = await Promise.all(
      ['/v1/chat/completions', '/v1/messages'].map(
        async (path) =>
          (await fetch(url + path, { method: 'POST', headers: { authorization: `Bearer ${token.key}` }, body: '{}' })).status,
      ),
    )
    expect(statuses).toEqual([503, 529])
  })
})

describe('bodies', () => {
  it('[19] every accepted compression results in the same request; others, chains and names of built-ins are refused', async () => {
    const { upstream, ask } = await door()
    const body = Buffer.from(JSON.stringify(chat({ seed: 1 })))
    const packed: [string, Buffer, number][] = [
      ['gzip', gzipSync(body), 200],
      ['GZIP', gzipSync(body), 200],
      ['x-gzip', gzipSync(body), 200],
      ['deflate', deflateSync(body), 200],
      ['br', brotliCompressSync(body), 200],
      ['zstd', zstdCompressSync(body), 200],
      ['zstd', zstdCompressSync(Buffer.alloc(33 * 1024 * 1024, 'a')), 413],
      ['identity', body, 200],
      ['gzip', body, 400],
      ['gzip', gzipSync(body).subarray(0, 20), 400],
      ['gzip, gzip', gzipSync(gzipSync(body)), 415],
      ['constructor', body, 415],
      ['__proto__', body, 415],
      ['tostring', body, 415],
    ]
    for (const [encoding, bytes, status] of packed)
      expect([encoding, (await ask(bytes, undefined, { 'content-encoding': encoding })).status]).toEqual([encoding, status])
    expect(upstream.journal).toHaveLength(packed.filter(([, , status]) => status === 200).length)
    for (const entry of upstream.journal) {
      expect(entry.body.equals(body)).toBe(true)
      expect(entry.headers['content-encoding']).toBeUndefined()
    }
  })

  it('a byte order mark is removed; a missing or unusual content type is accepted', async () => {
    const { upstream, server, token } = await door()
    const body = JSON.stringify(chat())
    expect((await ask(server, token.key, Buffer.from(`\ufeff${body}`))).status).toBe(200)
    for (const type of ['text/plain', 'application/json\ta', 'application/json; charset=utf-7']) {
      expect((await ask(server, token.key, body, undefined, { 'content-type': type })).status).toBe(200)
    }
    for (const entry of upstream.journal) expect(entry.body.toString()).toBe(body)
    expect(
      (
        await ask(server, token.key, '--x\r\ncontent-disposition: form-data; name="model"\r\n\r\nm\r\n--x--', undefined, {
          'content-type': 'multipart/form-data; boundary=x',
        })
      ).status,
    ).toBe(400)
  })

  it('when a key is repeated, the value that is authorised and priced is the one that is sent', async () => {
    const { upstream, server } = await door()
    const limited = await addToken(server, { model_limits_enabled: true, model_limits: model })
    const messages = '"messages":[{"role":"user","content":"hi"}]'
    const twice = [
      `{"model":"gpt-4","model":"${model}",${messages},"n":64,"n":1,"max_tokens":100000,"max_tokens":10}`,
      `{"\\u006dodel":"gpt-4",${messages},"model":"${model}","n":1,"max_tokens":10}`,
      `{"model":"${model}",${messages},"stream":true,"stream":false,"n":1,"max_tokens":10,"m\\u006fdel":"${model}"}`,
    ]
    for (const body of twice) {
      expect((await ask(server, limited.key, body)).status).toBe(200)
      const sent = upstream.journal.at(-1)?.body.toString() ?? ''
      expect(sent.match(/m(o|\\u006f)del"/g)).toHaveLength(1)
      expect(sent).not.toMatch(/gpt-4"|64|100000|true/)
    }
    expect((await ask(server, limited.key, `{"model":"${model}","model":"gpt-4",${messages}}`)).status).toBe(403)
    await requireBalancedBooks(server)
  })

  it('[T070] keys such as __proto__ are data, and are sent upstream unchanged', async () => {
    const { upstream, ask } = await door()
    const body = `{"model":"${model}","__proto__":{"stream":true,"n":9},"constructor":{"prototype":{"x":1}},"messages":[{"role":"user","content":"hi","__proto__":{"role":"system"}}]}`
    expect((await ask(body)).status).toBe(200)
    expect(upstream.journal[0]?.body.toString()).toBe(body)
    expect(({} as Record<string, unknown>).stream).toBeUndefined()
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const answer = await ask(chat({ model: name }))
      expect([name, answer.status, JSON.parse(answer.text).error.code]).toEqual([name, 404, 'model_not_found'])
    }
  })

  it('[T073] impossible amounts are refused before anything is priced', async () => {
    const { upstream, server, ask } = await door()
    const amounts = [2 ** 53, 1.8446744073686647e19, 1e308, -1, 1.5, 'NaN', '1', true, [], {}]
    for (const field of ['n', 'max_tokens', 'max_completion_tokens']) {
      for (const amount of amounts)
        expect([field, amount, (await ask(chat({ [field]: amount }))).status]).toEqual([field, amount, 400])
    }
    for (const amount of amounts)
      expect((await ask({ model, prompt: 'hi', best_of: amount }, '/v1/completions')).status).toBe(400)
    expect((await ask(`{"model":"${model}","messages":[{"role":"user","content":"hi"}],"max_tokens":1e400}`)).status).toBe(400)
    for (const amount of [2 ** 53, 1.8446744073686647e19, 1e308, -1, 1.5, 'NaN']) {
      const { status } = await ask({ model, prompt: 'hi', n: amount }, '/v1/images/generations')
      expect([amount, status]).toEqual([amount, 400])
    }
    expect((await ask({ model, prompt: Array(2049).fill('x') }, '/v1/completions')).status).toBe(400)
    expect(upstream.journal).toHaveLength(0)
    expect(await settledCharges(server)).toEqual([])
  })

  it('[T073] impossible limits in the other dialects are refused before anything is priced too', async () => {
    const { upstream, server, ask } = await door()
    const user = { role: 'user', content: 'hi' }
    for (const amount of [2 ** 53, 1.8446744073686647e19, 1e308, -1, 1.5, 'NaN']) {
      const generationConfigs = [{ maxOutputTokens: amount }, { candidateCount: amount }]
      const asked = [
        await ask({ model, max_tokens: amount, messages: [user] }, '/v1/messages'),
        await ask({ model, max_output_tokens: amount, input: 'hi' }, '/v1/responses'),
        ...(await Promise.all(
          generationConfigs.map((generationConfig) =>
            ask({ contents: [{ parts: [{ text: 'hi' }] }], generationConfig }, `/v1beta/models/${model}:generateContent`),
          ),
        )),
      ]
      expect([amount, ...asked.map(({ status }) => status)]).toEqual([amount, 400, 400, 400, 400])
    }
    expect(upstream.journal).toHaveLength(0)
    expect(await settledCharges(server)).toEqual([])
  })

  it('[T073] impossible sizes, lengths and counts of images, audio, drawings and music are refused, or do not change the price', async () => {
    let seconds: unknown = 3
    const answers: readonly (readonly [string, () => ProgrammedReply])[] = [
      ['/v1/images', () => ({ json: { created: 1, data: [{ url: 'https://x.test/a.png' }] } })],
      ['/v1/audio/speech', () => ({ bytes: 'ID3', type: 'audio/mpeg' })],
      [
        '/v1/audio',
        () => ({ bytes: `{"text":"hi","duration":${seconds},"usage":{"seconds":${seconds}}}`, type: 'application/json' }),
      ],
      ['/mj', () => ({ json: { code: 1, description: '', result: randomUUID() } })],
      ['/suno', () => ({ json: { code: 'success', message: '', data: randomUUID() } })],
    ]
    const { server, url, ask, form, heard } = await directStage(
      'sqlite',
      ({ path }) => answers.find(([prefix]) => path.startsWith(prefix))?.[1](),
      {
        channel: { models: 'dall-e-3,dall-e-2,tts-1,whisper-1' },
        ratios: { 'tts-1': 7.5, 'whisper-1': 15 },
        prices: { 'dall-e-3': 0.04, 'dall-e-2': 0.02, mj_imagine: 0.1, suno_music: 0.1 },
      },
    )
    await addChannel(server, { url, type: 2, models: 'mj_imagine' })
    await addChannel(server, { url, type: 36, models: 'suno_music' })
    const asForm = (fields: Record<string, unknown>, file: string) => {
      const data = new FormData()
      for (const [name, value] of Object.entries(fields)) data.set(name, String(value))
      data.set(file, new Blob([new Uint8Array(wavOf(Buffer.alloc(16_000), 8000))]), 'a.wav')
      return data
    }
    const calls: readonly (readonly [string, readonly string[], (more: object) => Promise<{ status: number; text: string }>])[] =
      [
        [
          'images',
          ['n', 'size', 'quality', 'count'],
          (more) => ask({ model: 'dall-e-3', prompt: 'hi', ...more }, '/v1/images/generations'),
        ],
        [
          'edits',
          ['n', 'size', 'count'],
          (more) => form('/v1/images/edits', asForm({ model: 'dall-e-2', prompt: 'hi', ...more }, 'image')),
        ],
        [
          'speech',
          ['speed', 'seconds', 'duration'],
          (more) => ask({ model: 'tts-1', input: 'hi', voice: 'alloy', ...more }, '/v1/audio/speech'),
        ],
        [
          'transcriptions',
          ['duration', 'seconds', 'n'],
          (more) => form('/v1/audio/transcriptions', asForm({ model: 'whisper-1', ...more }, 'file')),
        ],
        ['drawings', ['count', 'size', 'n', 'duration'], (more) => ask({ prompt: 'hi', ...more }, '/mj/submit/imagine')],
        [
          'music',
          ['duration', 'seconds', 'count', 'continue_at'],
          (more) => ask({ prompt: 'hi', ...more }, '/suno/submit/music'),
        ],
      ]
    const spent = async () => (await settledCharges(server)).map(({ amount }) => amount)
    for (const [name, fields, call] of calls) {
      const before = (await spent()).length
      expect((await call({})).status, name).toBe(200)
      const answered: string[] = []
      for (const field of fields) {
        for (const odd of [2 ** 53, 18446744073686646784n.toString(), 1e308, -1, 0, -0, 1.5, 'NaN', '9999999x9999999']) {
          const { status, text } = await call({ [field]: odd })
          expect([200, 400], `${name} ${field} ${odd}: ${text}`).toContain(status)
          if (status === 200) answered.push(`${field} ${odd}`)
        }
      }
      const [ordinary, ...others] = (await spent()).slice(before)
      expect(ordinary, name).toBeGreaterThan(0)
      expect(others, `${name} ${answered}`).toEqual(answered.map(() => ordinary))
    }
    // The length reported by an upstream is bounded as well.
    const before = (await spent()).length
    for (const odd of ['9007199254740992', '18446744073686646784', '1e308', '1e400', '-1', '0', '-0', '"NaN"']) {
      seconds = odd
      expect((await form('/v1/audio/transcriptions', asForm({ model: 'whisper-1' }, 'file'))).status, odd).toBe(200)
    }
    expect(new Set((await spent()).slice(before)).size).toBe(1)
    expect(heard.length).toBeGreaterThan(30)
    await requireBalancedBooks(server)
  })

  it('[T078] names of models and files cannot add other parts to the upstream request, or are refused', async () => {
    const { server, url, heard, ask, form } = await directStage(
      'sqlite',
      ({ path }) =>
        path.startsWith('/v1/audio') ? { json: { text: 'hi' } } : { status: 400, json: { error: { message: 'no' } } },
      { channel: { type: 24, models: 'gemini-*' } },
    )
    await setOptions(server, { SelfUseModeEnabled: true })
    const { key } = await addToken(server)
    const names = [
      'gemini-x/../../admin',
      'gemini-x?key=1&y=2',
      'gemini-x#y',
      'gemini-x\r\nx: y',
      'gemini-x\\..\\y',
      'gemini-\ud800',
      'gemini-x%2f..',
    ]
    for (const name of names) {
      const { status, text } = await ask(chat({ model: name }), '/v1/chat/completions', { authorization: `Bearer ${key}` })
      expect([status, text], name).toEqual([400, expect.stringContaining('error')])
    }
    expect(heard).toHaveLength(names.length - 1)
    for (const { path, headers } of heard) {
      expect(path).toMatch(/^\/v1beta\/models\/gemini-[^/?#\\]+:generateContent$/)
      expect(headers.x).toBeUndefined()
    }

    await addChannel(server, { url, models: 'whisper-1' })
    for (const name of ['a"; name="model".wav', 'a\r\nx: y\r\n\r\n.wav', '../../a.wav', 'a&b#c.wav']) {
      const data = new FormData()
      data.set('model', 'whisper-1')
      data.set('file', new Blob([new Uint8Array(wavOf(Buffer.alloc(16_000), 8000))]), name)
      expect((await form('/v1/audio/transcriptions', data)).status, name).toBe(200)
      const sent = await new Response(Buffer.from(heard.at(-1)?.bytes ?? ''), {
        headers: { 'content-type': heard.at(-1)?.headers['content-type'] ?? '' },
      }).formData()
      expect([...sent.keys()].sort()).toEqual(['file', 'model'])
    }
  })

  it('the hold multiplies a declared limit by the number of choices, best_of and prompts', async () => {
    const { upstream, server } = await door()
    const held = async (body: unknown, path?: string) => {
      const poor = await addToken(server, { unlimited_quota: false, remain_quota: 1 })
      const { error } = JSON.parse((await ask(server, poor.key, body, path)).text)
      return Number(/(\d+) needed/.exec(error.message)?.[1])
    }
    const price = async (tokens: number) =>
      (await held(chat({ max_tokens: tokens * 1000 }))) - (await held(chat({ max_tokens: 0 })))
    const perThousand = (await price(2)) - (await price(1))
    expect(perThousand).toBeGreaterThan(0)
    // Rounded, because the members themselves add a few prompt tokens to the hold.
    const thousands = (units: number) => Math.round(units / perThousand)
    const single = await held(chat({ max_tokens: 1000 }))
    expect(thousands((await held(chat({ max_tokens: 1000, n: 5 }))) - single)).toBe(4)
    const text = (more: Record<string, unknown>) => held({ model, prompt: 'hi', max_tokens: 1000, ...more }, '/v1/completions')
    const legacy = await text({})
    expect(thousands((await text({ best_of: 5 })) - legacy)).toBe(4)
    expect(thousands((await text({ n: 2, best_of: 5 })) - legacy)).toBe(4)
    expect(thousands((await text({ prompt: ['h', 'i'] })) - legacy)).toBe(1)
    expect(upstream.journal).toHaveLength(0)
  })

  it('deeply nested bodies, and bodies of a million parts, are refused before they are parsed', async () => {
    const { server, ask } = await door()
    const deep = (levels: number) =>
      `{"model":"${model}","messages":[{"role":"user","content":"x"}],"x":${'['.repeat(levels)}${']'.repeat(levels)}}`
    const bodies: [string, string, number][] = [
      ['shallow enough', deep(90), 200],
      ['deep', deep(200_000), 400],
      ['as deep as fits', deep(16_000_000), 400],
      [
        'a million keys',
        `{"model":"${model}",${Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":1`).join(',')}}`,
        400,
      ],
      ['millions of objects', `{"model":"${model}","messages":[${Array(8_000_000).fill('{}').join(',')}]}`, 400],
      ['escaped quotes', `{"model":"${model}","messages":[{"role":"user","content":"${'\\"'.repeat(10_000_000)}"}]}`, 403],
      [
        'nothing but backslashes',
        `{"model":"${model}","messages":[{"role":"user","content":"${'\\\\'.repeat(10_000_000)}"}]}`,
        403,
      ],
      ['half a string', `{"model":"${model}","messages":"${'x'.repeat(20_000_000)}`, 400],
    ]
    const poor = await addToken(server, { unlimited_quota: false, remain_quota: 1000 })
    for (const [name, body, status] of bodies) {
      const answer = status === 403 ? await asPoor(server, poor.key, body) : await ask(body)
      expect([name, answer.status]).toEqual([name, status])
    }
    expect((await ask(chat())).status).toBe(200)
  })
})

describe('connections', () => {
  const ok = /HTTP\/1\.1 200 OK/g

  it('pipelined requests on one connection are answered in order, each charged once', async () => {
    const { upstream, server, token } = await door()
    upstream.program(model, (entry) => ({ words: 3, delayMs: entry.json.seed === 1 ? 200 : 0 }))
    const one = requestBytes(token.key, JSON.stringify(chat({ seed: 1, stream: true })))
    const two = requestBytes(token.key, JSON.stringify(chat({ seed: 2 })))
    const got = await speak(server, one + two).until(
      (text) => (text.match(ok) ?? []).length === 2 && text.trimEnd().endsWith('}'),
    )
    expect(got.indexOf('[DONE]')).toBeGreaterThan(0)
    expect(got.indexOf('chat.completion"')).toBeGreaterThan(got.indexOf('[DONE]'))
    expect(await settledCharges(server)).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('a caller that disconnects while a reply is queued aborts the upstream and pays the usage', async () => {
    const { upstream, server, token } = await door()
    upstream.program(model, { words: 5000, pauseMs: 5 })
    const stream = requestBytes(token.key, JSON.stringify(chat({ stream: true })))
    const caller = speak(server, stream + stream)
    await caller.until((text) => text.includes('word5'))
    await eventually('both are asked', () => upstream.journal.length === 2)
    caller.socket.destroy()
    const entries = await upstream.waitFor(2)
    expect(entries.map((entry) => entry.aborted)).toEqual([true, true])
    expect(await settledCharges(server)).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('a connection stays open after an error if the body was read, and is closed if it was not', async () => {
    const { server, token } = await door()
    const bad = requestBytes(token.key, '{"model":1}')
    const good = requestBytes(token.key, JSON.stringify(chat()))
    const caller = speak(server, bad)
    await caller.until((text) => text.includes('"error"'))
    caller.socket.write(good)
    expect((await caller.until((text) => text.includes('chat.completion'))).match(/HTTP\/1\.1 \d+/g)).toEqual([
      'HTTP/1.1 400',
      'HTTP/1.1 200',
    ])

    const unread = speak(server, requestBytes('sk-wrong', 'x', { 'content-length': '30000000' }))
    const got = await unread.until(() => false)
    expect(got).toMatch(/^HTTP\/1\.1 401/)
    expect(got).toMatch(/connection: close/i)
  })

  it('the refusal of a large body is an answer, not a broken connection', async () => {
    const { server, token } = await door()
    const big = JSON.stringify(chat({ messages: [{ role: 'user', content: 'x'.repeat(40_000_000) }] }))
    expect((await ask(server, token.key, big)).status).toBe(413)
    expect((await ask(server, 'sk-wrong', big.slice(0, 30_000_000))).status).toBe(401)
  })

  it('requests with Expect: 100-continue, with HTTP/1.0, or in chunks without a length are answered', async () => {
    const { server, token } = await door()
    const body = JSON.stringify(chat())
    const expecting = speak(
      server,
      requestBytes(token.key, '', { expect: '100-continue', 'content-length': String(body.length) }),
    )
    await expecting.until((text) => text.includes('100 Continue'))
    expecting.socket.write(body)
    expect(await expecting.until((text) => text.includes('chat.completion'))).toContain('200 OK')

    const old = speak(server, requestBytes(token.key, JSON.stringify(chat({ stream: true }))).replace('HTTP/1.1', 'HTTP/1.0'))
    const got = await old.until(() => false)
    expect(got.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(got).not.toMatch(/chunked/i)

    const half = body.length >> 1
    const chunks = `${half.toString(16)}\r\n${body.slice(0, half)}\r\n${(body.length - half).toString(16)}\r\n${body.slice(half)}\r\n0\r\n\r\n`
    const chunked = speak(
      server,
      `POST /v1/chat/completions HTTP/1.1\r\n${host}authorization: Bearer ${token.key}\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`,
    )
    expect(await chunked.until((text) => text.includes('chat.completion'))).toContain('200 OK')
  })

  it('framing that proxies could read in two ways is refused and reaches no upstream', async () => {
    const { upstream, server, token } = await door()
    const body = JSON.stringify(chat())
    const head = `POST /v1/chat/completions HTTP/1.1\r\n${host}authorization: Bearer ${token.key}\r\n`
    const smuggled = [
      `${head}content-length: ${body.length}\r\ntransfer-encoding: chunked\r\n\r\n${body}`,
      `${head}content-length: ${body.length}\r\ncontent-length: ${body.length + 1}\r\n\r\n${body}`,
      `${head}transfer-encoding: chunked, gzip\r\n\r\n0\r\n\r\n`,
      `${head}content-length : ${body.length}\r\n\r\n${body}`,
      `${head}x-a: 1\r\n folded\r\ncontent-length: -1\r\n\r\n${body}`,
      `${head}transfer-encoding: chunked\r\n\r\nzz\r\n${body}\r\n0\r\n\r\n`,
    ]
    for (const bytes of smuggled) expect(await speak(server, bytes).until(() => false)).toMatch(/^(HTTP\/1\.1 [45]\d\d|$)/)
    expect(upstream.journal).toHaveLength(0)
    expect(await settledCharges(server)).toEqual([])
  })

  it('hop-by-hop names, names of built-ins, and line ends in model names have no effect', async () => {
    const { upstream, server, token } = await door()
    const body = JSON.stringify(chat())
    const caller = speak(
      server,
      requestBytes(token.key, body, {
        connection: 'authorization, x-request-id',
        constructor: 'x',
        __proto__x: 'y',
        trailer: 'x',
        'accept-encoding': 'gzip',
        cookie: 'a=b',
        'x-stainless-lang': 'js',
      }),
    )
    expect(await caller.until((text) => text.includes('chat.completion'))).toMatch(/x-request-id: \w+/)
    const sent = upstream.journal[0]?.headers ?? {}
    expect(Object.keys(sent).sort()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'user-agent',
      'x-sluice-site',
    ])
    expect(sent['accept-encoding']).toBe('identity')

    const injected = await ask(server, token.key, chat({ model: 'x\r\nset-cookie: a=b\r\n\r\n' }))
    expect([injected.status, injected.headers.get('set-cookie')]).toEqual([404, null])
    expect(JSON.parse(injected.text).error.param).toBe('model')
  })

  it('keys are accepted in the headers of every dialect, and a placeholder does not hide a valid key', async () => {
    const { server, token } = await door()
    const send = async (headers: Record<string, string>) => (await fetch(`${server.url}/v1/models`, { headers })).status
    expect(await send({ authorization: `bearer   ${token.key} ` })).toBe(200)
    expect(await send({ authorization: token.key })).toBe(200)
    for (const name of ['x-api-key', 'x-goog-api-key', 'api-key'])
      expect(await send({ [name]: token.key, authorization: 'Bearer undefined' })).toBe(200)
    expect(await send({})).toBe(401)
    expect(await send({ authorization: 'Bearer ' })).toBe(401)
    expect(await send({ authorization: `Bearer ${"' or 1=1 --".repeat(500)}` })).toBe(401)
    expect(await send({ authorization: `Basic ${token.key}` })).toBe(401)
  })

  it('a slow body is read; an incomplete one is dropped', async () => {
    const { upstream, server, token } = await door()
    const bytes = requestBytes(token.key, JSON.stringify(chat()))
    const slow = speak(server, bytes.slice(0, -60))
    for (const letter of bytes.slice(-60)) {
      await new Promise((resolve) => setTimeout(resolve, 2))
      slow.socket.write(letter)
    }
    expect(await slow.until((text) => text.includes('chat.completion'))).toContain('200 OK')
    const broken = speak(server, bytes.slice(0, -60))
    await eventually('the request has begun', async () => (await running(server)) === 1)
    broken.socket.destroy()
    expect(await settledCharges(server)).toHaveLength(1)
    expect(upstream.journal).toHaveLength(1)
    expect((await books(server)).logs).toHaveLength(1)
  })
})

describe('lists of models', () => {
  it("are limited to the key's models, in the dialect's form", async () => {
    const server = await serverOfTest('sqlite')
    await addChannel(server, { url: 'http://127.0.0.1:9', models: 'a/b:c@d,other' })
    await server.call('PUT /api/option/', { key: 'ModelPrice', value: '{"a/b:c@d":1,"other":1}' })
    const { key } = await addToken(server, { model_limits_enabled: true, model_limits: 'a/b:c@d' })
    const get = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${key}`, ...headers } })
      return [response.status, await response.json()]
    }
    expect(await get('/v1/models')).toMatchObject([200, { object: 'list', data: [{ id: 'a/b:c@d', object: 'model' }] }])
    expect(await get('/v1/models', { 'anthropic-version': '2023-06-01' })).toMatchObject([
      200,
      { data: [{ type: 'model', id: 'a/b:c@d' }], has_more: false },
    ])
    expect(await get('/v1/models/a/b:c@d')).toMatchObject([200, { id: 'a/b:c@d' }])
    expect(await get('/v1/models/a%2Fb%3Ac%40d')).toMatchObject([200, { id: 'a/b:c@d' }])
    for (const name of ['other', '__proto__', '%E0%A4%A']) expect((await get(`/v1/models/${name}`))[0]).toBe(404)
  })
})

anyDatabase('a caller who disconnects before authentication', (_fresh, kind) => {
  it('leaves nothing behind, whether the request had arrived completely or in part', async () => {
    const upstream = await upstreamOfTest()
    const { server, token } = await stage(kind, upstream.url)
    const whole = requestBytes(token.key, JSON.stringify(chat()))
    for (let round = 0; round < 40; round++) {
      server.app.bus.publish('token', token.id)
      const caller = speak(server, round % 2 ? whole : whole.slice(0, -20))
      await new Promise((resolve) => setTimeout(resolve, round % 5))
      caller.socket.destroy()
    }
    expect((await settledCharges(server)).length).toBeLessThanOrEqual(20)
    await requireBalancedBooks(server)
  })
})
