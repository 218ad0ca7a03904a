import type { IncomingMessage, ServerResponse } from 'node:http'
import { json } from './responses-vendor.ts'
import { httpUpstream } from './stage.ts'

const usual = {
  total_input_tokens: 30,
  total_cached_tokens: 10,
  total_output_tokens: 40,
  total_thought_tokens: 4,
  total_tool_use_tokens: 0,
  total_tokens: 74,
}
const steps = [
  { type: 'thought', summary: [{ type: 'text', text: 'Hm.' }], signature: 'c2lnbmVk' },
  { type: 'model_output', content: [{ type: 'text', text: 'Rye.' }] },
]

interface Stored {
  id: string
  status: string
  key: string
  body: Record<string, unknown>
}

export const interactionEvent = (data: { event_type: string; [key: string]: unknown }) =>
  `event: ${data.event_type}\ndata: ${JSON.stringify(data)}\n\n`

/**
 * A simulated Gemini that stores interactions by key. `next` returns the next state of a background interaction when it is polled; `more`
 * are members of its answers.
 */
export async function interactionsVendor({ next = () => 'in_progress', more = {} }: { next?: () => string; more?: object } = {}) {
  const stored = new Map<string, Stored>()
  const asked: { line: string; key: string; body: string }[] = []
  let count = 0

  const objectOf = ({ id, status, body }: Stored) => ({
    ...{ id, object: 'interaction', status, model: body.model ?? body.agent, created: '2026-11-28T00:00:00Z' },
    ...(status === 'completed' ? { steps, usage: usual } : {}),
    ...(status === 'failed' ? { errors: [{ code: 'INTERNAL', message: 'it failed' }] } : {}),
    ...more,
  })
  /** The whole stream of an interaction, as the vendor ends it. */
  const streamOf = (made: Stored): string[] => {
    const { steps: _, ...whole } = { steps, ...objectOf(made) }
    return [
      interactionEvent({
        event_type: 'interaction.created',
        interaction: { ...whole, usage: undefined, status: 'in_progress' },
        event_id: 'e0',
      }),
      interactionEvent({ event_type: 'step.start', index: 0, step: { type: 'model_output' }, event_id: 'e1' }),
      interactionEvent({ event_type: 'step.delta', index: 0, delta: { type: 'text', text: 'Rye.' }, event_id: 'e2' }),
      interactionEvent({ event_type: 'step.stop', index: 0, event_id: 'e3' }),
      interactionEvent({
        event_type: 'interaction.completed',
        interaction: { ...whole, status: 'completed', usage: usual },
        event_id: 'e4',
      }),
      'event: done\ndata: [DONE]\n\n',
    ]
  }

  const url = await httpUpstream(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const key = String(request.headers['x-goog-api-key'] ?? request.headers.authorization)
    asked.push({ line: `${request.method} ${request.url}`, key, body: text })
    const [, id = '', part] = /\/interactions\/([^/?]+)(?:\/(\w+))?/.exec(request.url ?? '') ?? []
    if (id !== '') return about(request, response, { found: stored.get(id), part, key })
    if (!request.url?.endsWith('/interactions')) return json(response, 404, { error: { code: 404, message: 'no such path' } })
    const body = JSON.parse(text)
    const made: Stored = { id: `v1_${++count}`, status: body.background ? 'in_progress' : 'completed', key, body }
    if (body.store !== false) stored.set(made.id, made)
    if (!body.stream) return json(response, 200, objectOf(made))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of streamOf(made)) {
      response.write(event)
      await new Promise((resolve) => setImmediate(resolve))
    }
    return response.end()
  })

  function about(
    request: IncomingMessage,
    response: ServerResponse,
    { found, part, key }: { found: Stored | undefined; part: string | undefined; key: string },
  ) {
    if (found?.key !== key) return json(response, 404, { error: { code: 404, message: 'not found', status: 'NOT_FOUND' } })
    if (part === 'cancel') found.status = 'cancelled'
    else if (request.method === 'DELETE') stored.delete(found.id)
    else if (found.status === 'in_progress') found.status = next()
    if (request.method === 'DELETE') return json(response, 200, {})
    if (!request.url?.includes('stream=true')) return json(response, 200, objectOf(found))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.end(
      streamOf({ ...found, status: 'completed' })
        .slice(2)
        .join(''),
    )
  }
  return { url, asked, streamOf }
}
