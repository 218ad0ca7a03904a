// Replaces upstream.c if there is no C compiler: the same replies, but slower. Prints the port that it listens on.
import http from 'node:http'

const chunks = 100
const paceMs = 20
const text = 'wwwww '.repeat(200)
const base = { id: 'chatcmpl-bench', created: 1_794_900_000, model: 'bench' }
const event = (value) => `data: ${JSON.stringify(value)}\n\n`
const chunk = (delta, finish_reason = null) =>
  event({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
const timed = () => chunk({ content: ` ${String(process.hrtime.bigint()).padStart(19, '0')}` })
const usage = { prompt_tokens: 200, completion_tokens: 100, total_tokens: 300 }
const end = `${chunk({}, 'stop')}${event({ ...base, object: 'chat.completion.chunk', choices: [], usage })}data: [DONE]\n\n`
const json = JSON.stringify({
  ...base,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: text, refusal: null }, logprobs: null, finish_reason: 'stop' }],
  usage,
})

const named = (type, more = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
const message = {
  id: 'msg_bench',
  type: 'message',
  role: 'assistant',
  model: 'bench',
  content: [],
  stop_reason: null,
  stop_sequence: null,
}
const messages = [
  named('message_start', { message: { ...message, usage: { input_tokens: 200, output_tokens: 1 } } }),
  named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  named('content_block_delta', { index: 0, delta: { type: 'text_delta', text: ` ${'0'.repeat(19)}` } }).repeat(chunks),
  named('content_block_stop', { index: 0 }),
  named('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 100 } }),
  named('message_stop'),
].join('')

const server = http.createServer(async (request, response) => {
  const parts = []
  for await (const part of request) parts.push(part)
  const body = Buffer.concat(parts).toString()
  if (!body.includes('"stream":true')) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': json.length })
    return response.end(json)
  }
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  if (body.includes('translated')) return response.end(messages)
  if (!body.includes('paced')) return response.end(chunk({ content: ` ${'0'.repeat(19)}` }).repeat(chunks) + end)

  let left = chunks
  const timer = setInterval(() => {
    response.write(timed())
    if (--left > 0) return
    clearInterval(timer)
    response.end(end)
  }, paceMs)
  response.once('close', () => clearInterval(timer))
})
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
