import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import type { ProviderEndpoints } from '../../src/server/people/accounts/external-identity/endpoints.ts'
import { closing, listening } from './listening.ts'

/** A fault of a simulated endpoint. */
export type Trouble = 'slow' | 'huge' | 'redirect' | 'html' | 'failing' | 'list'

interface PeerRequest {
  readonly path: string
  readonly authorization: string
  readonly form: Readonly<Record<string, string>>
}

/**
 * GitHub, LinuxDO, a WeChat server and an OpenID provider in one, on loopback. The test issues codes as the provider's page would;
 * each is valid once, for the PKCE challenge of its request.
 */
export interface IdentityProviders {
  readonly url: string
  readonly addresses: ProviderEndpoints
  readonly requests: PeerRequest[]
  /** The user at the login pages of the providers, for tests with a browser. */
  visitor: Readonly<Record<string, unknown>>
  trouble: Trouble | undefined
  /** Claims of the ID tokens issued from now on, in place of the correct ones. */
  claims: JWTPayload
  /** Whether to sign with a key that the provider does not publish. */
  foreignKey: boolean
  /** Publishes and uses a new key from now on. */
  rotateKey(): Promise<void>
  /** The provider's page: the user approves, and the browser returns with a code. */
  approve(visitUrl: string, user: Readonly<Record<string, unknown>>): { code: string; state: string }
  /** A code that was requested without a challenge, as by older clients. */
  approvePlain(user: Readonly<Record<string, unknown>>): string
  stop(): Promise<void>
}

interface Approved {
  readonly user: Readonly<Record<string, unknown>>
  readonly challenge: string
  readonly nonce: string
}

export async function startIdentityProviders(now: () => number): Promise<IdentityProviders> {
  const codes = new Map<string, Approved>()
  const tokens = new Map<string, Approved>()
  const requests: PeerRequest[] = []
  const foreign = await generateKeyPair('ES256')
  let own = await newKey('one')
  let drawn = 0

  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  const url = await listening(server)

  const peers: IdentityProviders = {
    url,
    addresses: {
      github: { authorize: `${url}/github/authorize`, token: `${url}/github/token`, user: `${url}/github/user` },
      linuxdo: { authorize: `${url}/linuxdo/authorize`, token: `${url}/linuxdo/token`, user: `${url}/linuxdo/user` },
    },
    requests,
    visitor: {},
    trouble: undefined,
    claims: {},
    foreignKey: false,
    async rotateKey() {
      own = await newKey('two')
    },
    approve(visitUrl, user) {
      const { searchParams: asked } = new URL(visitUrl)
      const code = approved({
        user,
        challenge: asked.get('code_challenge') ?? '',
        nonce: asked.get('nonce') ?? '',
      })
      return { code, state: asked.get('state') ?? '' }
    },
    approvePlain: (user) => approved({ user, challenge: '', nonce: '' }),
    stop: () => closing(server),
  }
  return peers

  function approved(given: Approved): string {
    const code = `code-${++drawn}`
    codes.set(code, given)
    return code
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request) body += chunk
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    const form = Object.fromEntries(new URLSearchParams(body))
    const authorization = request.headers.authorization ?? ''
    requests.push({ path: request.url ?? '', authorization, form })
    if (peers.trouble && !pathname.startsWith('/.well-known')) return misbehave(response, peers.trouble)

    if (pathname.endsWith('/authorize')) {
      const home = `${searchParams.get('redirect_uri')}?${new URLSearchParams(peers.approve(`${url}${request.url}`, peers.visitor))}`
      return void response.writeHead(302, { location: home }).end()
    }
    const answers: Record<string, () => unknown> = {
      '/github/token': () => ({ access_token: exchange(form), token_type: 'bearer' }),
      '/linuxdo/token': () => ({ access_token: exchange(form) }),
      '/github/user': () => tokens.get(authorization.replace('Bearer ', ''))?.user,
      '/linuxdo/user': () => tokens.get(authorization.replace('Bearer ', ''))?.user,
      '/api/wechat/user': () => {
        const user = codes.get(searchParams.get('code') ?? '')?.user
        codes.delete(searchParams.get('code') ?? '')
        return user && authorization === 'wechat-secret'
          ? { success: true, data: `wx-${user.id}` }
          : { success: false, message: 'no' }
      },
      '/.well-known/openid-configuration': () => ({
        issuer: url,
        authorization_endpoint: `${url}/oidc/authorize`,
        token_endpoint: `${url}/oidc/token`,
        jwks_uri: `${url}/oidc/keys`,
      }),
      '/oidc/keys': () => ({ keys: [own.published] }),
    }
    const answer = pathname === '/oidc/token' ? await identity(form) : answers[pathname]?.()
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer ?? {}))
  }

  /** Checks the code by RFC 7636, and consumes it. */
  function take({ code = '', code_verifier = '' }: Readonly<Record<string, string>>): Approved | undefined {
    const given = codes.get(code)
    codes.delete(code)
    const challenge = createHash('sha256').update(code_verifier).digest('base64url')
    return given && (given.challenge === '' || given.challenge === challenge) ? given : undefined
  }

  function exchange(form: Readonly<Record<string, string>>): string | undefined {
    const given = take(form)
    if (!given) return undefined
    const token = `access-${++drawn}`
    tokens.set(token, given)
    return token
  }

  async function identity(form: Readonly<Record<string, string>>): Promise<unknown> {
    const given = take(form)
    if (!given) return undefined
    const at = Math.floor(now() / 1000)
    const right = { iss: url, aud: 'oidc-client', iat: at, exp: at + 300, nonce: given.nonce }
    const token = new SignJWT({ ...right, ...given.user, ...peers.claims }).setProtectedHeader({
      alg: 'ES256',
      kid: own.published.kid,
    })
    return { access_token: 'x', id_token: await token.sign(peers.foreignKey ? foreign.privateKey : own.privateKey) }
  }
}

async function newKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  return { privateKey, published: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } }
}

function misbehave(response: ServerResponse, trouble: Trouble): void {
  if (trouble === 'slow') return
  if (trouble === 'redirect') return void response.writeHead(302, { location: 'http://127.0.0.1:1/inner' }).end()
  if (trouble === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>')
  if (trouble === 'failing') return void response.writeHead(500).end('{}')
  if (trouble === 'list') return void response.writeHead(200).end('[{"access_token":"x"}]')
  response.writeHead(200, { 'content-type': 'application/json' })
  response.on('error', () => {})
  const piece = Buffer.alloc(64 * 1024, 0x20)
  const write = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', write)
  write()
}

/** The data of the Telegram widget, signed with the bot's token like Telegram does. */
export function telegramData(token: string, fields: Readonly<Record<string, string>>): Record<string, string> {
  const text = Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .toSorted()
    .join('\n')
  const key = createHash('sha256').update(token).digest()
  return { ...fields, hash: createHmac('sha256', key).update(text).digest('hex') }
}
