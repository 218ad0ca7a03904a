import type { IncomingMessage, ServerResponse } from 'node:http'
import { httpUpstream } from './stage.ts'

const path = '/v1/responses'
const usual = {
  input_tokens: 30,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 44,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 74,
}
const output = [
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Rye.', annotations: [] }],
  },
]

interface Kept {
  id: string
  status: string
  key: string
  body: Record<string, unknown>
}

/**
 * An upstream that stores responses by key, as the vendor does. `next` returns the next state of a background response when it is
 * polled; `usage` is what it reports.
 */
export async function vendor({
  next = () => 'in_progress',
  usage = usual,
}: {
  next?: (kept: Kept) => string
  usage?: object
} = {}) {
  const kept = new Map<string, Kept>()
  const asked: { line: string; key: string; body: string }[] = []
  let count = 0

  const objectOf = ({ id, status, body }: Kept) => {
    const isDone = status === 'completed' || status === 'incomplete'
    const error = status === 'failed' ? { code: 'server_error', message: 'it failed' } : null
    return {
      id,
      object: 'response',
      created_at: 1,
      status,
      model: body.model,
      output: isDone ? output : [],
      error,
      usage: isDone ? usage : null,
    }
  }
  const event = (type: string, more: object, number: number) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...more })}\n\n`

  function create(response: ServerResponse, body: Record<string, unknown>, key: string) {
    if (body.previous_response_id && kept.get(String(body.previous_response_id))?.key !== key)
      return json(response, 400, {
        error: { message: 'no such previous response', type: 'invalid_request_error', param: null, code: null },
      })
    const made: Kept = { id: `resp_${++count}`, status: body.background ? 'queued' : 'completed', key, body }
    if (body.store !== false) kept.set(made.id, made)
    if (!body.stream) return json(response, 200, objectOf(made))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(event('response.created', { response: objectOf({ ...made, status: 'in_progress' }) }, 0))
    response.write(event('response.output_text.delta', { delta: 'Rye.', item_id: 'msg_1', output_index: 0, content_index: 0 }, 1))
    if (body.background) return undefined
    return response.end(event('response.completed', { response: objectOf(made) }, 2))
  }

  const url = await httpUpstream(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const key = String(request.headers.authorization).slice(7)
    asked.push({ line: `${request.method} ${request.url}`, key, body: text })
    const [, id = '', part] = /^\/v1\/responses\/([^/?]+)(?:\/(\w+))?/.exec(request.url ?? '') ?? []
    if (request.url === '/v1/responses/compact')
      return json(response, 200, {
        id: 'cmp_1',
        object: 'response.compaction',
        created_at: 1,
        output: [{ type: 'compaction', id: 'c', encrypted_content: 'x' }],
        usage,
      })
    if (request.url === path) return create(response, JSON.parse(text), key)
    return about(request, response, kept.get(id), part, key)
  })

  function about(
    request: IncomingMessage,
    response: ServerResponse,
    found: Kept | undefined,
    part: string | undefined,
    key: string,
  ) {
    if (found?.key !== key)
      return json(response, 404, {
        error: { message: 'Response not found', type: 'invalid_request_error', param: null, code: null },
      })
    if (part === 'input_items')
      return json(response, 200, {
        object: 'list',
        data: [{ type: 'message', id: 'msg_0', role: 'user', content: [] }],
        has_more: false,
        first_id: 'msg_0',
        last_id: 'msg_0',
      })
    if (part === 'cancel') found.status = 'cancelled'
    else if (request.method === 'DELETE') kept.delete(found.id)
    else if (found.status === 'queued' || found.status === 'in_progress') found.status = next(found)
    if (request.method === 'DELETE') return json(response, 200, { id: found.id, object: 'response', deleted: true })
    if (!request.url?.includes('stream=true')) return json(response, 200, objectOf(found))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(event('response.output_text.delta', { delta: 'Rye.', item_id: 'msg_1', output_index: 0, content_index: 0 }, 1))
    return response.end(event('response.completed', { response: objectOf({ ...found, status: 'completed' }) }, 2))
  }
  return { url, asked, kept }
}

export function json(response: ServerResponse, status: number, body: unknown) {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
