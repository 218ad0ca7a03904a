import type { FileDialect } from '../../protocols/format.ts'

/** The paths of files at vendors, beside the table of `endpoints.ts`. */

/** A call about files. `open`, `part`, `complete` and `cancel` are OpenAI's uploads in parts. Ids are those of this site. */
export type FileCall = { readonly dialect: FileDialect; readonly from: 'token' | 'session' } & (
  | { readonly action: 'upload' | 'list' | 'open' }
  | { readonly action: 'read' | 'content' | 'delete' | 'part' | 'complete' | 'cancel'; readonly id: string }
)

type Method = 'GET' | 'POST' | 'DELETE'

interface Route {
  readonly method: Method
  /** Its `{id}` is the id. */
  readonly path: string
  readonly action: FileCall['action']
}

const routes: readonly Route[] = [
  { method: 'POST', path: '/v1/files', action: 'upload' },
  { method: 'GET', path: '/v1/files', action: 'list' },
  { method: 'GET', path: '/v1/files/{id}', action: 'read' },
  { method: 'DELETE', path: '/v1/files/{id}', action: 'delete' },
  { method: 'GET', path: '/v1/files/{id}/content', action: 'content' },
  { method: 'POST', path: '/v1/uploads', action: 'open' },
  { method: 'POST', path: '/v1/uploads/{id}/parts', action: 'part' },
  { method: 'POST', path: '/v1/uploads/{id}/complete', action: 'complete' },
  { method: 'POST', path: '/v1/uploads/{id}/cancel', action: 'cancel' },
  { method: 'POST', path: '/upload/v1beta/files', action: 'upload' },
  // Google's SDKs call it without a suffix, and the calls above too.
  { method: 'POST', path: '/upload/v1/files', action: 'upload' },
  { method: 'GET', path: '/v1/files/{id}:download', action: 'content' },
  { method: 'GET', path: '/v1beta/files', action: 'list' },
  { method: 'GET', path: '/v1beta/files/{id}:download', action: 'content' },
  { method: 'GET', path: '/v1beta/files/{id}', action: 'read' },
  { method: 'DELETE', path: '/v1beta/files/{id}', action: 'delete' },
  { method: 'GET', path: '/pg/files/{id}/content', action: 'content' },
]

/** Every one of these paths as `METHOD /path`. */
export const fileLines: readonly string[] = routes.map(({ method, path }) => `${method} ${path}`)

/**
 * The call of a path without its query, or the methods that the path has; undefined for other paths. Several vendors have `/v1/files`:
 * `caller` is the dialect of its headers.
 */
export function findFileCall(
  method: string,
  path: string,
  caller: FileDialect,
): { readonly fileCall: FileCall } | { readonly allowed: string; readonly dialect: FileDialect } | undefined {
  const fitting = routes.flatMap((route) => {
    const id = idIn(path, route.path)
    return id === undefined ? [] : [{ ...route, id }]
  })
  if (fitting.length === 0) return undefined
  const [{ id = '' } = {}] = fitting
  const from = path.startsWith('/pg/') ? 'session' : 'token'
  const dialect = from === 'session' ? dialectOfId(id) : dialectOf(path, caller)
  const found = fitting.find((route) => route.method === method)
  if (!found) return { dialect, allowed: [...new Set(fitting.map((route) => route.method))].join(', ') }
  // The path of an action with an id has one.
  return { fileCall: { dialect, from, action: found.action, id: found.id } as FileCall }
}

/** The console names a file by its id alone, whose form tells the dialect. */
function dialectOfId(id: string): FileDialect {
  if (id.startsWith('file_')) return 'anthropic'
  return id.startsWith('file-') ? 'openai' : 'gemini'
}

function dialectOf(path: string, caller: FileDialect): FileDialect {
  if (path.startsWith('/upload/') || path.startsWith('/v1beta/')) return 'gemini'
  return path.startsWith('/v1/files') ? caller : 'openai'
}

/** The id in a path of this form, '' where the form has none; undefined for other paths. */
function idIn(path: string, form: string): string | undefined {
  const [before = '', after] = form.split('{id}')
  if (after === undefined) return path === form ? '' : undefined
  if (!path.startsWith(before) || !path.endsWith(after) || path.length <= before.length + after.length) return undefined
  const id = path.slice(before.length, path.length - after.length)
  return /^[\w.%-]{1,128}$/.test(id) ? id : undefined
}
