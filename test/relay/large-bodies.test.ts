import { createHash } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import type { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { ask, chat, claude, completion, eventually, httpUpstream, settledCharges, stage } from './stage.ts'

const mb = 1_000_000
const large = (content: unknown, more: Record<string, unknown> = {}) =>
  Buffer.from(JSON.stringify(chat({ messages: [{ role: 'user', content }], ...more })))
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** An upstream that passes each body it receives to `take`, and answers. */
const taking = (take: (body: Buffer) => void, reply = completion()) =>
  httpUpstream((incoming, response) => {
    const pieces: Buffer[] = []
    incoming.on('data', (piece: Buffer) => pieces.push(piece))
    incoming.once('end', () => {
      take(Buffer.concat(pieces))
      response.setHeader('content-type', 'application/json').end(reply)
    })
  })

/** Sends a body except its last byte, which `finish` sends; then the status is returned. */
async function begin(server: Pick<TestServer, 'url'>, key: string, body: Buffer) {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': body.length,
  }
  const sending: ClientRequest = request(`${server.url}/v1/chat/completions`, { method: 'POST', headers, agent: false })
  await new Promise<void>((resolve) => sending.write(body.subarray(0, -1), () => resolve()))
  return {
    async finish(): Promise<number> {
      const answered = once(sending, 'response')
      sending.end(body.subarray(-1))
      const [response] = await answered
      response.resume()
      return response.statusCode
    },
  }
}

anyDatabase('large bodies', (_fresh, kind) => {
  it('that end at the same moment let small calls run between the steps of each', async () => {
    const arrived: string[] = []
    const { server, token } = await stage(kind, await taking((body) => arrived.push(hash(body))))
    const sockets: Socket[] = []
    const note = (started: unknown) => void sockets.push((started as { socket: Socket }).socket)
    channel('http.server.request.start').subscribe(note)
    onTestFinished(() => void channel('http.server.request.start').unsubscribe(note))
    const body = large('large '.repeat((2 * mb) / 6))
    const begun = await Promise.all(Array.from({ length: 20 }, () => begin(server, token.key, body)))
    await eventually(
      'all but the last bytes are read',
      () => sockets.filter(({ bytesRead }) => bytesRead >= body.length).length === 20,
    )

    let answered = 0
    const statuses = begun.map(({ finish }) => finish())
    while (arrived.length < begun.length) {
      expect((await fetch(`${server.url}/api/status`)).status).toBe(200)
      answered++
    }
    // Each of the twenty takes nine iterations of the event loop; a small call needs two or three.
    expect([answered >= 50, answered]).toEqual([true, answered])
    expect(await Promise.all(statuses)).toEqual(Array(20).fill(200))
    expect(new Set(arrived)).toEqual(new Set([hash(body)]))
    const charges = await settledCharges(server)
    expect([charges.length, new Set(charges.map(({ amount }) => amount)).size]).toEqual([20, 1])
    await requireBalancedBooks(server)
  })

  it('with text beyond ASCII are decoded to the same text, wherever they are split', async () => {
    const said: string[] = []
    const reply = { id: 'm', type: 'message', role: 'assistant', model: claude, content: [{ type: 'text', text: 'seen' }] }
    const ended = { stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 11, output_tokens: 7 } }
    const url = await taking((body) => said.push(body.toString()), JSON.stringify({ ...reply, ...ended }))
    const { token, server } = await stage(kind, url, { channel: { type: 14, models: claude } })
    for (const begin of ['', 'x', 'xy', 'xyz']) {
      // Text is decoded in pieces of four megabytes.
      const text = begin + '\u{1f600}'.repeat((5 * mb) / 4)
      expect((await ask(server, token.key, large(text, { model: claude }))).status).toBe(200)
      const { messages } = JSON.parse(said.at(-1) ?? '')
      expect(JSON.stringify(messages).includes(text)).toBe(true)
    }
  })
})
