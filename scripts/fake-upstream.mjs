// A simulated provider: a real HTTP server on loopback that speaks the dialects of model providers, misbehaves on request and keeps
// a journal of the requests and of the bytes actually sent. For tests, the demo and the torture runs; never part of the product.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import { programOfModel, writesOf } from './fake-upstream/programs.mjs'
import * as replies from './fake-upstream/replies.mjs'

export { countWords, promptText } from './fake-upstream/replies.mjs'

const calls = [
  { end: '/chat/completions', dialect: 'openai', reply: replies.chat },
  { end: '/completions', dialect: 'openai', reply: replies.completions },
  { end: '/embeddings', dialect: 'openai', reply: replies.embeddings },
  { end: '/messages/count_tokens', dialect: 'anthropic', reply: replies.countTokens },
  { end: '/messages', dialect: 'anthropic', reply: replies.messages },
]

/**
 * Starts a provider on `port` (0: a free one) of `host`. See fake-upstream.d.mts for programs and the journal.
 * @param {import('./fake-upstream.d.mts').Settings} [settings]
 * @returns {Promise<import('./fake-upstream.d.mts').FakeUpstream>}
 */
export async function startFakeUpstream({ host = '127.0.0.1', port = 0, models = ['gpt-4o-mini'], programs = {} } = {}) {
  const journal = []
  const programOf = new Map(Object.entries(programs))
  const upstream = { journal, connections: 0, url: '', program, waitFor, stop }

  const server = http.createServer((request, response) => {
    answer(request, response).catch((error) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' })
      response.end(String(error?.message ?? error))
    })
  })
  server.on('connection', (socket) => {
    upstream.connections++
    socket.setNoDelay(true)
  })
  server.keepAliveTimeout = 60_000
  server.listen(port, host)
  await once(server, 'listening')
  upstream.url = `http://${host}:${server.address().port}`
  return upstream

  /** Sets the reply to the next requests for a model: a program, a list of them (one per request, the last stays) or a function. */
  function program(model, wanted) {
    programOf.set(model, Array.isArray(wanted) ? [...wanted] : wanted)
  }

  async function waitFor(count) {
    while (journal.length < count) await sleep(5)
    await Promise.all(journal.slice(0, count).map((entry) => entry.ended))
    return journal.slice(0, count)
  }

  async function stop() {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }

  async function answer(request, response) {
    const entry = await receive(request, response)
    journal.push(entry)
    const path = entry.path.split('?', 1)[0]
    const call = calls.find(({ end }) => path.endsWith(end))
    const program = await nextProgram(entry, response)
    if (program === undefined) return

    if (program.hangUp) return request.socket.destroy()
    if (program.delayMs) await sleep(program.delayMs)
    if (program.redirect) return response.writeHead(302, { location: program.redirect }).end()
    if (!call && path.endsWith('/models') && request.method === 'GET')
      return play(response, { entry, reply: replies.models(models), program, dialect: 'openai' })
    if (!call || request.method !== 'POST')
      return response
        .writeHead(404, { 'content-type': 'application/json' })
        .end(replies.errorOf('openai', `Unknown request URL: ${request.method} ${entry.path}`))
    return play(response, { entry, reply: replyOf(entry, call, program), program, dialect: call.dialect })
  }

  async function nextProgram(entry, response) {
    const wanted = programOf.get(entry.model) ?? programOf.get('*')
    const next = Array.isArray(wanted) ? (wanted.length > 1 ? wanted.shift() : wanted[0]) : wanted
    if (typeof next === 'function') return next(entry, response)
    return next ?? programOfModel(entry.model)
  }
}

/** Reads a whole request into a journal entry, which then records the bytes actually sent back. */
async function receive(request, response) {
  const chunks = []
  const entry = {
    id: randomBytes(6).toString('hex'),
    method: request.method,
    path: request.url,
    headers: request.headers,
    body: Buffer.alloc(0),
    json: undefined,
    model: undefined,
    status: 0,
    wordsSent: 0,
    bytesSent: 0,
    finished: false,
    aborted: false,
    ended: once(response, 'close').then(() => {
      entry.finished = response.writableFinished
      entry.aborted = !entry.finished && !entry.cut
    }),
  }
  for await (const chunk of request) chunks.push(chunk)
  entry.body = Buffer.concat(chunks)
  try {
    entry.json = JSON.parse(entry.body.toString())
    entry.model = entry.json.model
  } catch {
    entry.json = undefined
  }
  return entry
}

/** The reply that a program specifies instead of the usual one: a status with a body, an error in a 200, given bytes. */
function replyOf(entry, call, program) {
  const whole = (status, type, bytes) => ({ status, type, pieces: [{ bytes, words: 0 }] })
  const secret = entry.headers.authorization?.replace(/^Bearer /, '') ?? entry.headers['x-api-key'] ?? ''
  if (program.echoKey)
    return whole(
      program.status ?? 401,
      'application/json',
      replies.errorOf(call.dialect, `Incorrect API key provided: ${secret}`),
    )
  if (program.errorIn200) return whole(200, 'application/json', replies.errorOf(call.dialect, 'The engine is overloaded'))
  if (program.bytes !== undefined)
    return whole(program.status ?? 200, program.contentType ?? 'text/event-stream; charset=utf-8', program.bytes)
  if (program.body !== undefined)
    return whole(
      program.status ?? 200,
      program.contentType ?? 'application/json',
      typeof program.body === 'string' ? program.body : JSON.stringify(program.body),
    )
  if ((program.status ?? 200) !== 200)
    return whole(program.status, 'application/json', replies.errorOf(call.dialect, `Simulated status ${program.status}`))
  if (entry.json === undefined) return whole(400, 'application/json', replies.errorOf(call.dialect, 'The body is not JSON'))

  const reply = call.reply(entry.id, entry.json, program)
  const huge = program.hugeLineBytes ? [{ bytes: `: ${'x'.repeat(program.hugeLineBytes)}\n\n`, words: 0 }] : []
  return { ...reply, pieces: [...huge, ...reply.pieces] }
}

/** Writes a reply piece by piece, in step with the reader, with the faults of the program. */
async function play(response, { entry, reply, program, dialect }) {
  entry.status = reply.status
  const streamed = reply.type.startsWith('text/event-stream')
  const length =
    streamed || program.gzip || program.pieceBytes
      ? {}
      : { 'content-length': reply.pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece.bytes), 0) }
  const encoding = program.gzip ? { 'content-encoding': 'gzip' } : {}
  response.writeHead(reply.status, {
    'content-type': reply.type,
    'x-request-id': `req_${entry.id}`,
    ...length,
    ...encoding,
    ...program.headers,
  })
  response.flushHeaders()
  const out = program.gzip ? gzipInto(response) : response

  let events = 0
  for (const { bytes, words, endsEvent } of writesOf(reply.pieces, program.pieceBytes)) {
    if (events === program.stallAfterEvents) return
    if (events === program.cutAfterEvents) return cut(entry, response)
    if (events === program.errorAfterEvents)
      return out.end(replies.errorOf(dialect, 'The server had an error while processing your request.', true))
    if (response.destroyed) return
    await send(out, response, bytes)
    if (response.destroyed) return
    entry.bytesSent += bytes.length
    entry.wordsSent += words
    if (endsEvent) events++
    if (program.pauseMs) await sleep(program.pauseMs)
    else if (program.pieceBytes) await new Promise(setImmediate)
  }
  if (events === program.cutAfterEvents) return cut(entry, response)
  if (events === program.stallAfterEvents) return
  out.end()
}

function gzipInto(response) {
  const gzip = createGzip()
  gzip.pipe(response)
  return gzip
}

function cut(entry, response) {
  entry.cut = true
  // The bytes so far are handed to the kernel first: the reader sees them, then a connection that ends in the middle.
  setImmediate(() => response.socket?.destroy())
}

/** Waits for the reader when its buffer is full, so that a slow reader slows the provider down. */
async function send(out, response, bytes) {
  if (out.write(bytes)) return out === response ? undefined : new Promise((resolve) => out.flush(resolve))
  const over = new AbortController()
  const { signal } = over
  await Promise.race([once(out, 'drain', { signal }), once(response, 'close', { signal })]).catch(() => {})
  over.abort()
}
