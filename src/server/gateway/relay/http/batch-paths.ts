import type { FileDialect } from '../../protocols/format.ts'

/** The paths of batches at vendors, beside the table of `endpoints.ts`. */

/** A call about batches. Ids are those of this site. */
export type BatchCall = { readonly dialect: Exclude<FileDialect, 'gemini'> } & (
  | { readonly action: 'create' | 'list' }
  | { readonly action: 'read' | 'cancel' | 'results' | 'delete'; readonly id: string }
)

interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Its `{id}` is the id. */
  readonly path: string
  readonly action: BatchCall['action']
}

const routes: readonly Route[] = [
  { method: 'POST', path: '/v1/batches', action: 'create' },
  { method: 'GET', path: '/v1/batches', action: 'list' },
  { method: 'GET', path: '/v1/batches/{id}', action: 'read' },
  { method: 'POST', path: '/v1/batches/{id}/cancel', action: 'cancel' },
  { method: 'POST', path: '/v1/messages/batches', action: 'create' },
  { method: 'GET', path: '/v1/messages/batches', action: 'list' },
  { method: 'GET', path: '/v1/messages/batches/{id}', action: 'read' },
  { method: 'POST', path: '/v1/messages/batches/{id}/cancel', action: 'cancel' },
  { method: 'GET', path: '/v1/messages/batches/{id}/results', action: 'results' },
  { method: 'DELETE', path: '/v1/messages/batches/{id}', action: 'delete' },
]

/** Every one of these paths as `METHOD /path`. */
export const batchLines: readonly string[] = routes.map(({ method, path }) => `${method} ${path}`)

/**
 * The call of a path without its query, or the methods that the path has; undefined for other paths. Google's SDKs may call its batches
 * under the path of OpenAI's: `caller` is the dialect of the headers.
 */
export function findBatchCall(
  method: string,
  path: string,
  caller: FileDialect,
): { readonly batchCall: BatchCall } | { readonly allowed: string; readonly dialect: BatchCall['dialect'] } | undefined {
  const fitting = routes.flatMap((route) => {
    const id = idIn(path, route.path)
    return id === undefined ? [] : [{ ...route, id }]
  })
  if (fitting.length === 0 || caller === 'gemini') return undefined
  const dialect = path.startsWith('/v1/messages/') ? 'anthropic' : 'openai'
  const found = fitting.find((route) => route.method === method)
  if (!found) return { dialect, allowed: fitting.map((route) => route.method).join(', ') }
  // The path of an action with an id has one.
  return { batchCall: { dialect, action: found.action, ...(found.id === '' ? {} : { id: found.id }) } as BatchCall }
}

/** The id in a path of this form, '' where the form has none; undefined for other paths. */
function idIn(path: string, form: string): string | undefined {
  const [before = '', after] = form.split('{id}')
  if (after === undefined) return path === form ? '' : undefined
  if (!path.startsWith(before) || !path.endsWith(after) || path.length <= before.length + after.length) return undefined
  const id = path.slice(before.length, path.length - after.length)
  return /^[\w%-]{1,128}$/.test(id) ? id : undefined
}
