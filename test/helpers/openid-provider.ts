import type { RequestListener } from 'node:http'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { createServer, request as requestOverTls } from 'node:https'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { testCertificate, testKey } from './certificate.ts'
import { closing, listeningPort } from './listening.ts'

/** A real OpenID provider on loopback, by https. Its page knows at once who is there, and returns the browser. */
export interface OpenIdProvider {
  readonly issuer: string
  readonly client: { readonly client_id: string; readonly client_secret: string }
  /** The claims of a person, by the subject. */
  readonly people: Map<string, Readonly<Record<string, unknown>>>
  /** The subject of who is at its page. */
  visitor: string
  /** The browser of a person goes to the provider, and returns to this site with these parameters. */
  visit(url: string, subject: string): Promise<{ readonly page: string; readonly code: string; readonly state: string }>
  stop(): Promise<void>
}

/** Trust in the certificate of the provider, and in loopback as if it were public. */
export const trustingProvider = {
  untrusted: {
    certificates: testCertificate,
    allowsPort: () => true,
    allows: (address: string) => address === '127.0.0.1',
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  },
}

export async function startOpenIdProvider(redirectUris: readonly string[]): Promise<OpenIdProvider> {
  const people = new Map<string, Readonly<Record<string, unknown>>>()
  const client = { client_id: 'sluice', client_secret: 'canary-openid-secret-0123456789' }
  let answer: RequestListener = () => {}
  const server = createServer({ key: testKey, cert: testCertificate }, (asked, response) => answer(asked, response))
  const issuer = `https://localhost:${await listeningPort(server)}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(issuer, {
    clients: [{ ...client, redirect_uris: redirectUris }],
    scopes: ['openid', 'profile', 'email', 'groups', 'offline_access'],
    claims: {
      openid: ['sub'],
      profile: ['name', 'preferred_username'],
      email: ['email', 'email_verified'],
      groups: ['groups', 'realm_access', '_claim_names'],
    },
    pkce: { required: () => true },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a key of this test'] },
    ttl: Object.fromEntries(
      ['AccessToken', 'AuthorizationCode', 'Grant', 'IdToken', 'Interaction', 'Session'].map((name) => [name, 600]),
    ),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ ...people.get(accountId), sub: accountId }),
    }),
  })
  const serve = provider.callback()
  answer = (asked, response) => {
    if (!asked.url?.startsWith('/interaction/')) return void serve(asked, response)
    approve(asked, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  }

  async function approve(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    const accountId = opened.visitor
    const { params } = await provider.interactionDetails(asked, response)
    const grant = new provider.Grant({ accountId, clientId: params.client_id ?? '' })
    grant.addOIDCScope(params.scope ?? '')
    const result = { login: { accountId }, consent: { grantId: await grant.save() } }
    await provider.interactionFinished(asked, response, result)
  }

  const opened: OpenIdProvider = {
    issuer,
    client,
    people,
    visitor: '',
    async visit(url, subject) {
      opened.visitor = subject
      const cookies = new Map<string, string>()
      for (let next = url, hops = 0; hops < 10; hops++) {
        const location = await redirectOf(next, cookies)
        const to = new URL(location, next)
        if (to.origin === issuer) {
          next = to.href
          continue
        }
        const { searchParams } = to
        if (!searchParams.has('code')) throw new Error(`The provider has refused: ${to.search}`)
        return { page: to.origin + to.pathname, code: searchParams.get('code') ?? '', state: searchParams.get('state') ?? '' }
      }
      throw new Error('The provider redirects for ever')
    },
    stop: () => closing(server),
  }
  return opened
}

/** The target of a redirect, like a browser that keeps cookies. */
function redirectOf(url: string, cookies: Map<string, string>): Promise<string> {
  const send = url.startsWith('https:') ? requestOverTls : request
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return new Promise((resolve, reject) => {
    const sent = send(url, { ca: testCertificate, agent: false, headers: { cookie, accept: 'text/html' } }, (response) => {
      for (const set of response.headers['set-cookie'] ?? []) {
        const [pair = ''] = set.split(';', 1)
        cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
      }
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () => {
        const { location } = response.headers
        if (location === undefined) reject(new Error(`${response.statusCode} from ${url}: ${text.slice(0, 500)}`))
        else resolve(location)
      })
    })
    sent.on('error', reject).end()
  })
}
