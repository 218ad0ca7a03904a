import { fail } from '../../lib/failure.ts'
import { CallFailure, callConfigured, type UpstreamAgents } from '../../lib/http-client.ts'
import { parseUrl } from '../../lib/parse-url.ts'
import type { Core } from '../../options/core.ts'

/** Where the providers live. Replaceable in tests. */
export interface PeerAddresses {
  /** https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps */
  readonly github: { readonly authorize: string; readonly token: string; readonly user: string }
  /** https://connect.linux.do */
  readonly linuxdo: { readonly authorize: string; readonly token: string; readonly user: string }
}

export interface PeerSettings {
  readonly addresses?: PeerAddresses
  readonly timeoutMs?: number
}

const addresses: PeerAddresses = {
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

export interface PeerCall {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent by POST as a form; without it the call is a GET. */
  readonly form?: Readonly<Record<string, string>>
}

/**
 * Calls to the providers of outside accounts. Whatever goes wrong is one and the same failure to the caller; what it was is in the log,
 * without codes, tokens and secrets.
 */
export class Peers {
  readonly addresses: PeerAddresses
  readonly #core: Pick<Core, 'logger'>
  readonly #upstream: UpstreamAgents
  readonly #timeoutMs: number

  constructor(core: Pick<Core, 'logger'>, upstream: UpstreamAgents, settings: PeerSettings = {}) {
    this.#core = core
    this.#upstream = upstream
    this.addresses = settings.addresses ?? addresses
    this.#timeoutMs = settings.timeoutMs ?? 5000
  }

  /** The answer, when it is a JSON object with a status of success. Throws `outside_failed`. */
  async ask({ url, headers = {}, form }: PeerCall): Promise<Readonly<Record<string, unknown>>> {
    const body = form && new URLSearchParams(form).toString()
    try {
      const reply = await callConfigured(this.#upstream, {
        url,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          'user-agent': 'sluice',
          ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        timeoutMs: this.#timeoutMs,
        sizeBytesMax,
      })
      const value = reply.status >= 200 && reply.status < 300 ? parse(reply.body) : undefined
      if (isObject(value)) return value
      this.#core.logger.warn(
        { host: hostOf(url), status: reply.status },
        'a provider of outside accounts refused or made no sense',
      )
    } catch (error) {
      const kind = error instanceof CallFailure ? error.kind : 'unreachable'
      this.#core.logger.warn({ host: hostOf(url), kind }, 'a provider of outside accounts could not be asked')
    }
    return fail('outside_failed')
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function hostOf(url: string): string {
  return parseUrl(url)?.host ?? ''
}
