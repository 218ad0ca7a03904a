import type { FileDialect } from '../../protocols/format.ts'
import { readGeminiPath } from '../../protocols/gemini-generate/path.ts'

/** The paths of batches at vendors, beside the table of `endpoints.ts`. */

/** A call about batches. Ids are those of this site. */
export type BatchCall = {
  readonly dialect: FileDialect
  readonly from: 'token' | 'session'
} /** The model is in the path of Gemini's alone. */ & (
  | { readonly action: 'create'; readonly model?: string }
  | { readonly action: 'list' }
  | { readonly action: 'read' | 'cancel' | 'results' | 'delete'; readonly id: string }
)

interface Route {
  readonly dialect: FileDialect
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Its `{id}` is the id. */
  readonly path: string
  readonly action: BatchCall['action']
}

const openai = { dialect: 'openai' } as const
const anthropic = { dialect: 'anthropic' } as const
const gemini = { dialect: 'gemini' } as const

const routes: readonly Route[] = [
  { ...openai, method: 'POST', path: '/v1/batches', action: 'create' },
  { ...openai, method: 'GET', path: '/v1/batches', action: 'list' },
  { ...openai, method: 'GET', path: '/v1/batches/{id}', action: 'read' },
  { ...openai, method: 'POST', path: '/v1/batches/{id}/cancel', action: 'cancel' },
  { ...anthropic, method: 'POST', path: '/v1/messages/batches', action: 'create' },
  { ...anthropic, method: 'GET', path: '/v1/messages/batches', action: 'list' },
  { ...anthropic, method: 'GET', path: '/v1/messages/batches/{id}', action: 'read' },
  { ...anthropic, method: 'POST', path: '/v1/messages/batches/{id}/cancel', action: 'cancel' },
  { ...anthropic, method: 'GET', path: '/v1/messages/batches/{id}/results', action: 'results' },
  { ...anthropic, method: 'DELETE', path: '/v1/messages/batches/{id}', action: 'delete' },
  ...['/v1beta', '/v1'].flatMap((version): Route[] => [
    { ...gemini, method: 'GET', path: `${version}/batches`, action: 'list' },
    { ...gemini, method: 'GET', path: `${version}/batches/{id}`, action: 'read' },
    { ...gemini, method: 'POST', path: `${version}/batches/{id}:cancel`, action: 'cancel' },
    { ...gemini, method: 'DELETE', path: `${version}/batches/{id}`, action: 'delete' },
  ]),
  { ...openai, method: 'POST', path: '/pg/batches', action: 'create' },
  // Of batches of every dialect; errors are written as OpenAI's.
  { ...openai, method: 'GET', path: '/pg/batches/{id}/results', action: 'results' },
]

const ordersAtGemini = 'batchGenerateContent'

/** Every one of these paths as `METHOD /path`, but those that are Google's only by their headers. */
export const batchLines: readonly string[] = [
  ...routes.filter((route) => !isByHeaders(route)).map(({ method, path }) => `${method} ${path}`),
  `POST /v1beta/models/{model}:${ordersAtGemini}`,
]

function isByHeaders({ dialect, path }: Route): boolean {
  return dialect === 'gemini' && path.startsWith('/v1/')
}

/**
 * The call of a path without its query, or the methods that the path has; undefined for other paths. Google's SDKs may call its batches
 * under its version without a suffix, as OpenAI's: `caller` is the dialect of the headers.
 */
export function findBatchCall(
  method: string,
  path: string,
  caller: FileDialect,
): { readonly batchCall: BatchCall } | { readonly allowed: string; readonly dialect: FileDialect } | undefined {
  const ordered = path.endsWith(ordersAtGemini) ? readGeminiPath(path) : undefined
  if (ordered?.method === ordersAtGemini) {
    const { model } = ordered
    return method === 'POST'
      ? { batchCall: { dialect: 'gemini', from: 'token', action: 'create', model } }
      : { allowed: 'POST', dialect: 'gemini' }
  }
  const isOfGoogle = caller === 'gemini' && path.startsWith('/v1/batches')
  const fitting = routes.flatMap((route) => {
    if (path.startsWith('/v1/batches') && (route.dialect === 'gemini') !== isOfGoogle) return []
    const id = idIn(path, route.path)
    return id === undefined ? [] : [{ ...route, id }]
  })
  const [first] = fitting
  if (!first) return undefined
  const { dialect } = first
  const found = fitting.find((route) => route.method === method)
  if (!found) return { dialect, allowed: fitting.map((route) => route.method).join(', ') }
  const from = path.startsWith('/pg/') ? 'session' : 'token'
  // The path of an action with an id has one.
  return { batchCall: { dialect, from, action: found.action, ...(found.id === '' ? {} : { id: found.id }) } as BatchCall }
}

/** The id in a path of this form, '' where the form has none; undefined for other paths. */
function idIn(path: string, form: string): string | undefined {
  const [before = '', after] = form.split('{id}')
  if (after === undefined) return path === form ? '' : undefined
  if (!path.startsWith(before) || !path.endsWith(after) || path.length <= before.length + after.length) return undefined
  const id = path.slice(before.length, path.length - after.length)
  return /^[\w%-]{1,128}$/.test(id) ? id : undefined
}
