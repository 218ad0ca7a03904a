import { expect, it } from 'vitest'
import type { TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { books, requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { chat, completion, event, eventually, httpUpstream, model, piece, requestBytes, settledCharges, speak } from './stage.ts'

// Callers that close their side of the connection after the request (FIN): docs/decisions/0024-half-closed-connections.md.

const speech = { path: '/v1/audio/speech', body: { model: 'tts-1', input: 'four', voice: 'alloy' } }
const sound = Buffer.alloc(64, 'sound-bytes ')

/** An upstream that answers each request of the three kinds on `release`, and counts the connections that were closed before. */
async function heldUpstream() {
  const held: (() => void)[] = []
  const seen = { asked: 0, aborted: 0 }
  const url = await httpUpstream(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { stream } = JSON.parse(text) as { stream?: boolean }
    seen.asked++
    response.once('close', () => {
      if (!response.writableFinished) seen.aborted++
    })
    if (stream) response.writeHead(200, { 'content-type': 'text/event-stream' }).write(piece('four '))
    await new Promise<void>((resolve) => held.push(resolve))
    if (request.url === speech.path) response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(sound)
    else if (stream) response.end(piece('five six') + piece('', 'stop') + event('[DONE]'))
    else response.writeHead(200, { 'content-type': 'application/json' }).end(completion())
  })
  const release = () => {
    for (const answer of held.splice(0)) answer()
  }
  return { url, seen, release }
}

async function held(sharedStage: ReturnType<typeof sharedStages>) {
  const upstream = await heldUpstream()
  const { server, token } = await sharedStage(upstream.url, { models: `${model},tts-1` })
  /** A caller that sends its FIN right after the body. */
  const halfClosed = async ({ body = chat(), path, version = '1.1' }: { body?: object; path?: string; version?: string }) => {
    const asked = upstream.seen.asked
    const bytes = requestBytes(token.key, JSON.stringify(body), {}, path).replace('HTTP/1.1', `HTTP/${version}`)
    const caller = speak(server, bytes)
    caller.socket.end()
    await eventually('the upstream is asked', () => upstream.seen.asked > asked)
    return caller
  }
  return { upstream, server, halfClosed }
}

async function rows(server: TestServer) {
  await settledCharges(server)
  await requireBalancedBooks(server)
  return (await books(server)).logs.map((row) => ({
    prompt: row.prompt_tokens,
    output: row.completion_tokens,
    ...JSON.parse(row.other),
  }))
}

anyDatabase('a caller who half-closes the connection after the request', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  it('gets the whole answer (JSON, a stream or bytes), and the connection is closed after it', async () => {
    const { upstream, server, halfClosed } = await held(sharedStage)
    const whole = await halfClosed({})
    upstream.release()
    const oldest = await halfClosed({ version: '1.0' })
    upstream.release()
    const stream = await halfClosed({ body: chat({ stream: true }) })
    await stream.until((text) => text.includes('four'))
    upstream.release()
    const bytes = await halfClosed(speech)
    upstream.release()

    for (const caller of [whole, oldest]) {
      const text = await caller.until(() => false)
      expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
      expect(text.split('\r\n\r\n')[1]).toBe(completion())
    }
    expect(await stream.until(() => false)).toMatch(/four .*five six.*data: \[DONE\]\n\n\r\n0\r\n\r\n$/s)
    const text = await bytes.until(() => false)
    expect(text.replaceAll(/\r\n[0-9a-f]+\r\n/g, '')).toContain(sound.toString('latin1'))
    expect(text).toMatch(/\r\n0\r\n\r\n$/)
    const all = await rows(server)
    expect(all.map(({ interrupted }) => interrupted)).toEqual([undefined, undefined, undefined, undefined])
    expect(upstream.seen.aborted).toBe(0)
  })

  it('and disconnects while the upstream works: the upstream is aborted, and the partial reply is charged as interrupted', async () => {
    const { upstream, server, halfClosed } = await held(sharedStage)
    const whole = await halfClosed({})
    whole.socket.destroy()
    await eventually('the upstream is let go', () => upstream.seen.aborted === 1)
    const stream = await halfClosed({ body: chat({ stream: true }) })
    await stream.until((text) => text.includes('four'))
    stream.socket.destroy()
    await eventually('the upstream is let go', () => upstream.seen.aborted === 2)
    expect(await rows(server)).toMatchObject([
      { interrupted: 'client', estimated: true, prompt: 11, output: 0 },
      { interrupted: 'client', estimated: true, prompt: 11, output: 2 },
    ])
  })

  it('and disconnects before the end of the answer is charged as interrupted, never as if the answer were complete', async () => {
    const { upstream, server, halfClosed } = await held(sharedStage)
    for (const asked of [{}, { body: chat({ stream: true }) }, speech]) {
      const caller = await halfClosed(asked)
      caller.socket.destroy()
      upstream.release()
    }
    expect((await rows(server)).map(({ interrupted }) => interrupted)).toEqual(['client', 'client', 'client'])
  })

  it('is probed by interim replies while a whole answer takes long, which no client mistakes for the answer', async () => {
    const { upstream, server, halfClosed } = await held(sharedStage)
    const caller = await halfClosed({})
    await caller.until((text) => text.includes('\r\n\r\nHTTP/1.1 100'))
    upstream.release()
    const replies = (await caller.until(() => false)).split('\r\n\r\n')
    expect(replies.slice(0, 2)).toEqual(['HTTP/1.1 100 Continue', 'HTTP/1.1 100 Continue'])
    expect(replies.at(-1)).toBe(completion())
    expect(await rows(server)).toMatchObject([{ prompt: 11, output: 7 }])
  })
})
