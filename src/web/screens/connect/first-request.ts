import type { ClientDialect } from '../../../contract/clients/index.ts'
import { sitePath } from '../../lib/base-path.ts'

/** One small request in the dialect that a client speaks, with a token as a client sends it. */

export type FirstReply =
  | { readonly kind: 'answer'; readonly text: string; readonly requestId: string }
  | { readonly kind: 'refused'; readonly status: number; readonly message: string; readonly requestId: string }
  | { readonly kind: 'lost' }

interface FirstRequest {
  readonly key: string
  readonly model: string
  readonly question: string
}

/** Never throws. */
export async function sendFirstRequest(dialect: ClientDialect, request: FirstRequest): Promise<FirstReply> {
  const { path, headers, body } = writers[dialect](request)
  try {
    const response = await fetch(sitePath(path), {
      method: 'POST',
      credentials: 'omit',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const requestId = response.headers.get('x-oneapi-request-id') ?? ''
    const reply: unknown = await response.json().catch(() => undefined)
    if (response.ok) return { kind: 'answer', text: textIn(reply), requestId }
    return { kind: 'refused', status: response.status, message: messageIn(reply) || response.statusText, requestId }
  } catch {
    return { kind: 'lost' }
  }
}

interface Written {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

const writers: Readonly<Record<ClientDialect, (request: FirstRequest) => Written>> = {
  chat: ({ key, model, question }) => ({
    path: '/v1/chat/completions',
    headers: bearer(key),
    body: { model, messages: [{ role: 'user', content: question }] },
  }),
  responses: ({ key, model, question }) => ({
    path: '/v1/responses',
    headers: bearer(key),
    body: { model, input: question, store: false },
  }),
  messages: ({ key, model, question }) => ({
    path: '/v1/messages',
    headers: { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
    body: { model, max_tokens: 4096, messages: [{ role: 'user', content: question }] },
  }),
  gemini: ({ key, model, question }) => ({
    path: `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    headers: { 'x-goog-api-key': key },
    body: { contents: [{ role: 'user', parts: [{ text: question }] }] },
  }),
}

/** The text of a reply of any dialect: all strings named `text` or `content` where replies have them, except reasoning. */
function textIn(reply: unknown): string {
  const [choice] = listIn(reply, 'choices')
  const [candidate] = listIn(reply, 'candidates')
  const parts = [
    ...[memberOf(memberOf(choice, 'message'), 'content')].filter((content) => typeof content === 'string'),
    ...listIn(reply, 'content').map((block) => memberOf(block, 'text')),
    ...listIn(reply, 'output').flatMap((item) => listIn(item, 'content').map((part) => memberOf(part, 'text'))),
    ...listIn(memberOf(candidate, 'content'), 'parts').map((part) => !memberOf(part, 'thought') && memberOf(part, 'text')),
  ]
  return parts
    .filter((part) => typeof part === 'string')
    .join('')
    .trim()
}

function messageIn(reply: unknown): string {
  const message = memberOf(memberOf(reply, 'error'), 'message')
  return typeof message === 'string' ? message : ''
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
}

function listIn(value: unknown, name: string): readonly unknown[] {
  const list = memberOf(value, name)
  return Array.isArray(list) ? list : []
}
