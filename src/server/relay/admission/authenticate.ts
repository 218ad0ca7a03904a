import type { IncomingHttpHeaders } from 'node:http'
import { requireChangedPassword, requireIdentity } from '../../accounts/identify.ts'
import { fail } from '../../lib/failure.ts'
import type { Dialect } from '../../protocols/format.ts'
import { type RelayCaller, readAcceptsUnpriced } from '../../tokens/authenticate.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { RelayParts } from '../relay-parts.ts'

/** Finds who calls: by an `sk-` key wherever the dialects put one, or for the playground by the session of the console. */
export function authenticateCall(
  app: RelayParts,
  endpoint: { from: 'token' | 'session' },
  call: ClientExchange,
): Promise<RelayCaller> | RelayCaller {
  if (endpoint.from === 'session') return callerOfSession(app, call)
  return app.authenticator.authenticate(keysIn(call.request.headers, call.dialect, call.request.url), call.client.address)
}

/** Where a key may be, in the order of the dialect. Each distinct one is tried, so that a placeholder does not hide a valid key. */
export function keysIn(headers: IncomingHttpHeaders, dialect: Dialect, url = ''): string[] {
  const bearer = headers.authorization
  const apiKey = textOf(headers['x-api-key'])
  const googleKey = textOf(headers['x-goog-api-key'])
  const azureKey = textOf(headers['api-key'])
  const ordered = {
    openai: [bearer, apiKey, googleKey, azureKey, keyInProtocols(headers)],
    anthropic: [apiKey, bearer, googleKey, azureKey],
    drawing: [bearer, textOf(headers['mj-api-secret']), apiKey],
    music: [bearer, apiKey],
    // Only here the address may hold one, which is read and then forgotten: addresses end in logs.
    gemini: [googleKey, keyInQuery(url), bearer, apiKey, azureKey],
  }[dialect]
  return ordered.filter((key) => key !== undefined && key !== '').map(String)
}

/** Browsers can set no header for a socket, so that the key is one of the subprotocols that they offer. */
function keyInProtocols({ upgrade, 'sec-websocket-protocol': offered = '' }: IncomingHttpHeaders): string | undefined {
  if (upgrade === undefined) return undefined
  const marked = offered.split(',').find((name) => name.trim().startsWith(keyProtocol))
  return marked?.trim().slice(keyProtocol.length)
}

const keyProtocol = 'openai-insecure-api-key.'

async function callerOfSession(app: RelayParts, call: ClientExchange): Promise<RelayCaller> {
  const { headers } = call.request
  if (headers.authorization !== undefined) fail('playground_needs_session')
  const identity = await requireIdentity(app, headers)
  requireChangedPassword(identity, call.client)
  const { account } = identity
  return {
    userId: account.id,
    username: account.username,
    role: account.role,
    userGroup: account.group,
    acceptsUnpriced: readAcceptsUnpriced(account.setting),
    ...noToken,
  }
}

/** Of whoever calls without a token: nothing that one could narrow is. */
export const noToken = {
  tokenId: 0,
  tokenName: '',
  tokenGroup: '',
  modelLimits: null,
  allowedAddresses: null,
  expiresAt: -1,
  limits: null,
  isStrict: false,
  refusesHostedTools: false,
  pinnedChannel: 0,
  hadBalance: true,
} as const

function keyInQuery(url: string): string | undefined {
  const query = url.indexOf('?')
  return query < 0 ? undefined : (new URLSearchParams(url.slice(query)).get('key') ?? undefined)
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}
