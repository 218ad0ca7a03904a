import { isObject, readJson } from '../../../base/lib/bytes/read-json.ts'
import { fail } from '../../../base/lib/failure.ts'
import { callConfigured, fetchUntrusted, type UpstreamAgents } from '../../../base/lib/net/http-client.ts'
import { parseUrl } from '../../../base/lib/net/parse-url.ts'
import { CallFailure } from '../../../base/lib/net/upstream-http/exchange.ts'
import type { Core } from '../../../base/options/core.ts'

/** The endpoints of the providers. Replaceable in tests. */
export interface ProviderEndpoints {
  /** https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps */
  readonly github: { readonly authorize: string; readonly token: string; readonly user: string }
  /** https://connect.linux.do */
  readonly linuxdo: { readonly authorize: string; readonly token: string; readonly user: string }
}

export interface EndpointSettings {
  readonly endpoints?: ProviderEndpoints
  readonly timeoutMs?: number
}

const addresses: ProviderEndpoints = {
  github: {
    authorize: 'https://github.com/login/oauth/authorize',
    token: 'https://github.com/login/oauth/access_token',
    user: 'https://api.github.com/user',
  },
  linuxdo: {
    authorize: 'https://connect.linux.do/oauth2/authorize',
    token: 'https://connect.linux.do/oauth2/token',
    user: 'https://connect.linux.do/api/user',
  },
}

const sizeBytesMax = 256 * 1024

interface EndpointCall {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent by POST as a form; without it the call is a GET. */
  readonly form?: Readonly<Record<string, string>>
  /** A user has named the address: only public ones are called, and only by https. */
  readonly isUntrusted?: boolean
}

/**
 * Calls the endpoints of the identity providers. Every failure is the same error to the caller; its cause is in the log,
 * without codes, tokens and secrets.
 */
export class ProviderClient {
  readonly endpoints: ProviderEndpoints
  readonly #core: Pick<Core, 'logger'>
  readonly #upstream: UpstreamAgents
  readonly #timeoutMs: number

  constructor(core: Pick<Core, 'logger'>, upstream: UpstreamAgents, settings: EndpointSettings = {}) {
    this.#core = core
    this.#upstream = upstream
    this.endpoints = settings.endpoints ?? addresses
    this.#timeoutMs = settings.timeoutMs ?? 5000
  }

  /** Returns the reply if it is a JSON object with a success status. Throws `outside_failed`. */
  async call({ url, headers = {}, form, isUntrusted = false }: EndpointCall): Promise<Readonly<Record<string, unknown>>> {
    const body = form && new URLSearchParams(form).toString()
    const method: 'GET' | 'POST' = body === undefined ? 'GET' : 'POST'
    try {
      const call = {
        url,
        method,
        headers: {
          accept: 'application/json',
          'user-agent': 'sluice',
          ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        timeoutMs: this.#timeoutMs,
        sizeBytesMax,
      }
      const reply = await (isUntrusted
        ? fetchUntrusted(this.#upstream, { ...call, redirectsMax: 0 })
        : callConfigured(this.#upstream, call))
      const value = reply.status >= 200 && reply.status < 300 ? readJson(reply.body) : undefined
      if (isObject(value)) return value
      this.#core.logger.warn(
        { host: hostOf(url), status: reply.status },
        'an identity provider refused the call or sent an invalid answer',
      )
    } catch (error) {
      const kind = error instanceof CallFailure ? error.kind : 'unreachable'
      this.#core.logger.warn({ host: hostOf(url), kind }, 'an identity provider could not be reached')
    }
    return fail('outside_failed')
  }
}

function hostOf(url: string): string {
  return parseUrl(url)?.host ?? ''
}
