import type { IncomingHttpHeaders } from 'node:http'
import type { CallerFormat, Dialect } from '../protocols/format.ts'

/**
 * The relay: from a caller's request to a channel's answer and a durable charge, in one straight line (`handle.ts`). It knows no
 * provider by name and no money beyond hold, settle and release. This table is the only place that knows relay paths.
 */
export type Endpoint = { readonly path: string; readonly dialect: Dialect } & (
  | { readonly kind: 'relay'; readonly format: CallerFormat; readonly from: 'token' | 'session' }
  | { readonly kind: 'models' }
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'not-offered' }
  | { readonly kind: 'unknown' }
)

interface Entry {
  readonly method: 'GET' | 'POST'
  readonly endpoint: Endpoint
}

const relay = (path: string, format: CallerFormat, dialect: Dialect, from: 'token' | 'session' = 'token'): Entry => ({
  method: 'POST',
  endpoint: { path, kind: 'relay', format, dialect, from },
})

const entries = new Map<string, Entry>(
  [
    relay('/v1/chat/completions', 'openai.chat', 'openai'),
    relay('/pg/chat/completions', 'openai.chat', 'openai', 'session'),
    relay('/v1/completions', 'openai.completions', 'openai'),
    relay('/v1/embeddings', 'openai.embeddings', 'openai'),
    relay('/v1/responses', 'openai.responses', 'openai'),
    relay('/v1/messages', 'anthropic.messages', 'anthropic'),
    { method: 'GET' as const, endpoint: { path: '/v1/models', kind: 'models' as const, dialect: 'openai' as const } },
  ].map((entry) => [entry.endpoint.path, entry]),
)

/** Calls of the dialects that this program does not answer yet: told plainly, in the dialect. */
const notOffered =
  /^\/v1\/(responses\/|moderations|images|audio|rerank|realtime|files|uploads|batches|fine-tunes|fine_tuning|assistants|threads|vector_stores|edits|messages\/)/

/** Whether a path belongs to the relay rather than to the console. */
export function isRelayPath(url: string): boolean {
  return url.startsWith('/v1') || url.startsWith('/pg/')
}

/**
 * The endpoint of a request, or the method that the path would take. A doubled `/v1` prefix, a trailing slash and unknown query keys
 * are tolerated. A model name may contain `/`, `:` and `@`.
 */
export function findEndpoint(
  method: string,
  url: string,
  headers: IncomingHttpHeaders,
): Endpoint | { readonly wrongMethod: string; readonly allowed: string; readonly dialect: Dialect } {
  const path = cleanPath(url)
  const entry = entries.get(path)
  if (entry) {
    const endpoint =
      entry.endpoint.kind === 'models' && headers['anthropic-version'] !== undefined
        ? { ...entry.endpoint, dialect: 'anthropic' as const }
        : entry.endpoint
    return entry.method === method ? endpoint : { wrongMethod: method, allowed: entry.method, dialect: endpoint.dialect }
  }

  const dialect: Dialect =
    path.startsWith('/v1/messages') || headers['anthropic-version'] !== undefined
      ? 'anthropic'
      : path.startsWith('/v1beta')
        ? 'gemini'
        : 'openai'
  const model = /^\/v1\/models\/(.+)$/.exec(path)?.[1]
  if (model && method === 'GET') return { path, dialect, kind: 'model', model: decode(model) }
  if (dialect === 'gemini' || notOffered.test(path)) return { path, dialect, kind: 'not-offered' }
  return { path, dialect, kind: 'unknown' }
}

function cleanPath(url: string): string {
  const query = url.indexOf('?')
  let path = query < 0 ? url : url.slice(0, query)
  if (path.startsWith('/v1/v1/')) path = path.slice(3)
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
