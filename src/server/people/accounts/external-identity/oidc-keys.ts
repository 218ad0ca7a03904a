import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import { upTo } from '../../../base/lib/collections/cache-size.ts'
import { fail } from '../../../base/lib/failure.ts'
import { parseUrl } from '../../../base/lib/net/parse-url.ts'
import type { Core } from '../../../base/options/core.ts'
import type { ProviderClient } from './endpoints.ts'
import { type ProviderAnswer, requireText } from './read-profile.ts'

/** An OpenID provider, by the address of its discovery document or its issuer. */
export interface OidcProvider {
  readonly address: string
  /** A user has named it: only public addresses are called, and only by https. */
  readonly isUntrusted: boolean
}

/** The provider's discovery document. https://openid.net/specs/openid-connect-discovery-1_0.html */
interface OidcDiscovery {
  readonly isUntrusted: boolean
  readonly issuer: string
  readonly authorize: string
  readonly token: string
  readonly keys: string
  /** Whether the secret is sent in the form; otherwise it is sent in the header, which is the default of the standard. */
  readonly secretInForm: boolean
  readonly scopes: readonly unknown[]
  /** '' where the provider has none. */
  readonly userInfo: string
}

const keptMs = 10 * 60_000
/** On an unknown key id the keys are fetched again, at most once per interval. */
const rereadMs = 60_000
const clockToleranceSeconds = 60
/** Asymmetric signatures only: anyone who learns a shared secret could forge the others. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const wellKnown = '/.well-known/openid-configuration'

/** The site has one provider, and each organisation may have one. */
const providersMax = 1000

interface Kept<Value> {
  readonly value: Value
  readonly readAt: number
}

/** Discovery documents and keys of OpenID providers, cached for some minutes, and the verification of their ID tokens. */
export class OidcKeys {
  readonly #core: Pick<Core, 'now'>
  readonly #providers: ProviderClient
  readonly #sites = new LRUCache<string, Kept<OidcDiscovery>>(upTo(providersMax))
  readonly #keys = new LRUCache<string, Kept<JSONWebKeySet>>(upTo(providersMax))

  constructor(core: Pick<Core, 'now'>, providers: ProviderClient) {
    this.#core = core
    this.#providers = providers
  }

  /** Throws `outside_failed`, also for a provider whose issuer differs from the configured one. */
  async site({ address, isUntrusted }: OidcProvider): Promise<OidcDiscovery> {
    const url = address.endsWith(wellKnown) ? address : `${address.replace(/\/$/, '')}${wellKnown}`
    const name = nameOf(url, isUntrusted)
    const kept = this.#sites.get(name)
    if (kept && this.#isFresh(kept, keptMs)) return kept.value
    const value = readSite(await this.#providers.call({ url, isUntrusted }), { url, isUntrusted })
    this.#sites.set(name, { value, readAt: this.#core.now() })
    return value
  }

  /** The claims of an ID token that this provider issued for this client and this login. Throws `outside_failed`. */
  async verify(site: OidcDiscovery, { idToken, clientId, nonce }: { idToken: string; clientId: string; nonce: string }) {
    const check = async (keys: JSONWebKeySet) => {
      const { payload } = await jwtVerify(idToken, createLocalJWKSet(keys), {
        issuer: site.issuer,
        audience: clientId,
        algorithms,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(this.#core.now()),
        requiredClaims: ['iss', 'aud', 'sub', 'exp', 'iat', 'nonce'],
      })
      return payload
    }
    try {
      const claims = await check(await this.#readKeys(site, keptMs)).catch(async (error: unknown) => {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
        return check(await this.#readKeys(site, rereadMs))
      })
      if (claims.nonce !== nonce || nonce === '') throw new Error('The nonce is of another login')
      if (!isFor(claims, clientId)) throw new Error('The identity was made for another client')
      return claims
    } catch (error) {
      // The error itself contains the claims, which must not be logged.
      return fail('outside_failed', {}, { detail: error instanceof Error ? error.message : 'unreadable' })
    }
  }

  async #readKeys(site: OidcDiscovery, maxAgeMs: number): Promise<JSONWebKeySet> {
    const { keys: url, isUntrusted } = site
    const name = nameOf(url, isUntrusted)
    const kept = this.#keys.get(name)
    if (kept && this.#isFresh(kept, maxAgeMs)) return kept.value
    const { keys } = await this.#providers.call({ url, isUntrusted })
    if (!Array.isArray(keys)) throw new Error('The provider has no keys')
    // The library checks each key before it uses it.
    const value = { keys } as JSONWebKeySet
    this.#keys.set(name, { value, readAt: this.#core.now() })
    return value
  }

  #isFresh({ readAt }: Kept<unknown>, maxAgeMs: number): boolean {
    const age = this.#core.now() - readAt
    return age >= 0 && age < maxAgeMs
  }
}

/** What was read without the guard is not used where it is required. */
function nameOf(url: string, isUntrusted: boolean): string {
  return `${isUntrusted} ${url}`
}

/** The authorized party must be this client, and must be present when there are several audiences. */
function isFor({ aud, azp }: JWTPayload, clientId: string): boolean {
  return azp === undefined ? !Array.isArray(aud) || aud.length === 1 : azp === clientId
}

function readSite(
  answer: ProviderAnswer,
  { url, isUntrusted }: { readonly url: string; readonly isUntrusted: boolean },
): OidcDiscovery {
  const issuer = requireText(answer, 'issuer', 300)
  if (`${issuer.replace(/\/$/, '')}${wellKnown}` !== url) fail('outside_failed', {}, { detail: 'the issuer is another' })
  const methods = answer.token_endpoint_auth_methods_supported
  const known = Array.isArray(methods) ? methods : []
  const scopes = answer.scopes_supported
  return {
    isUntrusted,
    issuer,
    authorize: requireWebAddress(answer, 'authorization_endpoint', url),
    token: requireWebAddress(answer, 'token_endpoint', url),
    keys: requireWebAddress(answer, 'jwks_uri', url),
    secretInForm: known.includes('client_secret_post') && !known.includes('client_secret_basic'),
    scopes: Array.isArray(scopes) ? scopes : [],
    userInfo: answer.userinfo_endpoint === undefined ? '' : requireWebAddress(answer, 'userinfo_endpoint', url),
  }
}

/** A provider with an https URL must not redirect to plain http. */
function requireWebAddress(answer: ProviderAnswer, name: string, asked: string): string {
  const address = requireText(answer, name, 2000)
  const isSafe = /^https:\/\//i.test(address) || (asked.startsWith('http://') && /^http:\/\//i.test(address))
  return isSafe && parseUrl(address) ? address : fail('outside_failed', {}, { detail: `${name} is no web address` })
}
