import { createServer, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import { onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { listening } from '../helpers/listening.ts'

export const live = 'gpt-4o-realtime-preview'

export type Event = Record<string, unknown> & { type: string }

/** One session as a simulated upstream sees it. */
export interface Talk {
  readonly socket: WebSocket
  readonly request: IncomingMessage
  readonly heard: Event[]
  say(event: Event): void
}

/** A realtime upstream on the loopback address: `hears` is called with each event of each session. */
export async function realtimeUpstream(
  hears: (talk: Talk, event: Event) => void = () => {},
  { refuses, greets = true }: { refuses?: { status: number; body: unknown }; greets?: boolean } = {},
) {
  const talks: Talk[] = []
  const handshakes: IncomingMessage[] = []
  const server = createServer()
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 64 * 1024 * 1024 })
  server.on('upgrade', (request, socket, head) => {
    handshakes.push(request)
    if (refuses) {
      const body = JSON.stringify(refuses.body)
      socket.end(
        `HTTP/1.1 ${refuses.status} No\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
      return
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      const talk: Talk = { socket: client, request, heard: [], say: (event) => client.send(JSON.stringify(event)) }
      talks.push(talk)
      client.on('error', () => {})
      client.on('message', (data) => {
        const event = JSON.parse(String(data)) as Event
        talk.heard.push(event)
        hears(talk, event)
      })
      const model = new URL(request.url ?? '', 'http://x').searchParams.get('model')
      if (greets)
        talk.say({ type: 'session.created', event_id: 'e', session: { type: 'realtime', model, output_modalities: ['audio'] } })
    })
  })
  onTestFinished(() => {
    for (const client of sockets.clients) client.terminate()
    for (const { socket } of talks) socket.terminate()
    server.closeAllConnections()
    server.close()
  })
  return { url: await listening(server), talks, handshakes }
}

export const usage = {
  total_tokens: 150,
  input_tokens: 100,
  output_tokens: 50,
  input_token_details: { text_tokens: 60, audio_tokens: 40, cached_tokens: 0 },
  output_token_details: { text_tokens: 10, audio_tokens: 40 },
}

/** Answers each `response.create` with a short response of that id and usage. */
export function answering(more: { status?: string; usage?: unknown; twice?: boolean } = {}) {
  let count = 0
  return (talk: Talk, event: Event) => {
    if (event.type === 'session.update') talk.say({ type: 'session.updated', event_id: 'e', session: event.session })
    if (event.type !== 'response.create') return
    const id = `resp_${++count}`
    talk.say({ type: 'response.created', event_id: 'e', response: { id, object: 'realtime.response', status: 'in_progress' } })
    talk.say({
      type: 'response.output_text.delta',
      event_id: 'e',
      response_id: id,
      item_id: 'i',
      output_index: 0,
      content_index: 0,
      delta: 'Rye.',
    })
    const response = {
      id,
      object: 'realtime.response',
      status: more.status ?? 'completed',
      usage: 'usage' in more ? more.usage : usage,
    }
    for (let times = 0; times < (more.twice ? 2 : 1); times++) talk.say({ type: 'response.done', event_id: 'e', response })
  }
}

/** A caller over `ws`: records the messages, and how it was refused or closed. */
export function caller(
  url: string,
  key: string,
  more: { path?: string; protocols?: string[]; headers?: Record<string, string> } = {},
) {
  const {
    path = `/v1/realtime?model=${live}`,
    protocols = [],
    headers = key === '' ? {} : { authorization: `Bearer ${key}` },
  } = more
  const socket = new WebSocket(url.replace('http', 'ws') + path, protocols, { headers, perMessageDeflate: false, maxPayload: 0 })
  const heard: Event[] = []
  const waiting = new Set<() => void>()
  let closed: { code: number; reason: string } | undefined
  let refused: { status: number; body: string } | undefined
  const news = () => {
    for (const look of waiting) look()
  }
  socket.on('message', (data) => {
    heard.push(JSON.parse(String(data)))
    news()
  })
  socket.on('open', news)
  socket.on('error', () => {})
  socket.on('close', (code, reason) => {
    closed = { code, reason: reason.toString() }
    news()
  })
  socket.on('unexpected-response', (_request, response) => {
    let body = ''
    response.on('data', (chunk) => (body += chunk))
    response.on('end', () => {
      refused = { status: response.statusCode ?? 0, body }
      socket.terminate()
      news()
    })
  })
  onTestFinished(() => void socket.terminate())
  const until = <Value>(look: () => Value | undefined) =>
    new Promise<Value>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`It did not come; heard ${JSON.stringify(heard)}`)), 15_000)
      const ask = () => {
        const value = look()
        if (value === undefined) return
        clearTimeout(timer)
        waiting.delete(ask)
        resolve(value)
      }
      waiting.add(ask)
      ask()
    })
  return {
    socket,
    heard,
    say: (event: Event) => socket.send(JSON.stringify(event)),
    opened: () => until(() => (socket.readyState === WebSocket.OPEN ? true : undefined)),
    hears: (type: string, count = 1) => until(() => heard.filter((event) => event.type === type)[count - 1]),
    closed: () => until(() => closed),
    refused: () => until(() => refused),
  }
}

/** A client of the official SDK. It accepts only encrypted URLs; the connection below it is nevertheless not encrypted. */
export function sdk(url: string, key: string, model = live): OpenAIRealtimeWS {
  const client = new OpenAI({ apiKey: key, baseURL: `${url}/v1` })
  const { port, hostname } = new URL(url)
  const options = { createConnection: (() => connect(Number(port), hostname)) as never }
  const realtime = new OpenAIRealtimeWS({ model, options }, client)
  onTestFinished(() => realtime.close())
  return realtime
}
