// What clients do after each kind of error: the errors of the server, and the clients' own rules. For test/relay/client-retries.test.ts and the
// generated docs/reference/retry-words.md.
import { readFileSync } from 'node:fs'

/** The rules of clients, each with its version and the day on which it was read. Of a list, the first rule that matches decides. */
export const clients = JSON.parse(readFileSync(new URL('../../test/fixtures/clients/retries.json', import.meta.url), 'utf8'))

export const dialects = ['openai', 'anthropic', 'gemini']

const names = { model: 'MODEL', group: 'GROUP', whose: 'You have', window: '1 minute', count: 3 }

/** Errors of the server itself, by their codes, with a wait in seconds for some. */
const own = [
  ['server_busy', {}, 1],
  ['server_stopping', {}],
  ['database_unavailable', {}],
  ['internal', { request: 'ID' }],
  ['no_channel', names],
  ['upstream_saturated', {}, 30],
  ['rate_limit_requests', names, 40],
  ['rate_limit_requests', names, 7200],
  ['budget_exceeded', { whose: 'this API key', budget: 'a day', state: '$1 of $1', renews: 'It renews at midnight' }, 7200],
  ['quota_insufficient', { have: '$1', need: '$2' }],
  ['token_invalid', {}],
  ['token_model_forbidden', names],
  ['model_not_found', names],
  ['price_missing', names],
  ['untranslatable', { field: 'tools', reason: 'REASON' }],
]

/**
 * Every kind of failure as callers of each dialect receive it, as a whole reply and as the last event of a stream that has begun. `server` has
 * the functions of the server's modules. A failure of an upstream may come in a stream; the server refuses before one begins.
 */
export function toldFailures(server) {
  const failures = [
    ...Object.keys(server.upstreamFailures).map((kind) => ({
      kind,
      error: server.failureError(kind),
      places: ['whole', 'stream'],
    })),
    ...['context-too-long', 'content-filtered'].map((kind) => ({
      kind,
      error: refused(server, kind),
      places: ['whole', 'stream'],
    })),
    ...own.map(([code, params, retryAfter]) => ({
      kind: retryAfter > 120 ? `${code}, for hours` : code,
      error: server.ownError(new server.AppError(code, params), { retryAfter: retryAfter ?? 0 }),
      places: ['whole'],
    })),
  ]
  return failures.map(({ kind, error, places }) => ({
    kind,
    isLasting: error.final,
    told: dialects.flatMap((dialect) => places.map((place) => told(server, { dialect, place, error }))),
  }))
}

function refused({ refusedRequest }, kind) {
  const facts = { message: 'REASON', type: '', code: '', param: null, status: 400 }
  return { ...refusedRequest(400, facts, undefined), known: { kind, tokens: 300, limit: 200 } }
}

function told(server, { dialect, place, error }) {
  const inDialect = server.inDialect(dialect, error)
  const { error: members } = JSON.parse(server.errorBody(dialect, inDialect, { requestId: 'ID', language: 'en' }))
  return {
    dialect,
    place,
    status: place === 'whole' ? server.statusFor(dialect, inDialect) : 0,
    headers: place === 'whole' ? server.errorHeaders(dialect, inDialect, 'ID') : {},
    type: members.type ?? members.status ?? '',
    code: String(members.code ?? ''),
    message: members.message,
    body: JSON.stringify({ error: members }),
  }
}

/** Whether a client repeats the request after an error that it was told. */
export function repeats(client, error) {
  const rules = error.place === 'stream' && client.stream !== 'whole' ? client.stream : client.whole
  return rules.find((rule) => matches(rule, error, client))?.repeat ?? false
}

function matches({ dialects: only, header, statuses, types, codes, words, in: place }, error, { searches = {} }) {
  if (only && !only.includes(error.dialect)) return false
  if (header && error.headers['x-should-retry'] !== header) return false
  if (statuses && !statuses.some((one) => (Array.isArray(one) ? isWithin(one, error.status) : one === error.status))) return false
  if (types && !types.includes(error.type)) return false
  if (codes && !codes.includes(error.code)) return false
  const text = searched[place ?? searches[error.dialect] ?? 'body'](error).toLowerCase()
  return !words || words.some((word) => text.includes(word))
}

function isWithin([least, most], status) {
  return status >= least && status <= most
}

/** What a client searches for words. */
const searched = {
  message: ({ message }) => message,
  body: ({ body }) => body,
  'status and message': ({ status, message }) => `${status || ''} ${message}`,
  'status and body': ({ status, body }) => `${status || ''} ${body}`,
  'code and type': ({ code, type }) => `${code} ${type}`,
}
