import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { goodPassword } from './accounts.ts'

/** Where a change is made: by root, on one node. It trusts the `X-Forwarded-For` of this machine. */
interface ChangingSite {
  readonly url: string
  call<Data>(line: string, body?: unknown): Promise<Data>
  /** The address of the simulated upstream, and a model with a price. */
  readonly upstreamUrl: string
  readonly model: string
}

interface Revocation {
  /** Asks for what is allowed before `revoke` and refused after it; returns the status, or the code of a refusal with status 200. */
  ask(url: string): Promise<string>
  /** Resolves with the answer to the call that makes the change. */
  revoke(): Promise<unknown>
  readonly refusedWith: string
}

/** Every kind of change that takes something away from a caller. */
export const revocations: readonly [name: string, prepare: (site: ChangingSite) => Promise<Revocation>][] = [
  ['a deleted token', (site) => tokenChange(site, ({ id }) => site.call(`DELETE /api/token/${id}`), '401')],
  [
    'a disabled token',
    (site) => tokenChange(site, ({ id }) => site.call('PUT /api/token/?status_only=true', { id, status: 2 }), '401'),
  ],
  ['an expired token', (site) => tokenChange(site, (token) => put(site, token, { expired_time: 1 }), '401')],
  [
    'another list of models',
    (site) => tokenChange(site, (token) => put(site, token, { model_limits_enabled: true, model_limits: 'other' }), '403'),
  ],
  ['another list of addresses', (site) => tokenChange(site, (token) => put(site, token, { allow_ips: '203.0.113.1' }), '403')],
  ['another group of a token', (site) => tokenChange(site, (token) => put(site, token, { group: 'vip' }), '503')],
  [
    'a disabled channel',
    async (site) => {
      const model = `model-${++made}`
      const ratios = JSON.parse(
        (await site.call<Option[]>('GET /api/option/')).find(({ key }) => key === 'ModelRatio')?.value ?? '',
      )
      await site.call('PUT /api/option/', { key: 'ModelRatio', value: JSON.stringify({ ...ratios, [model]: 1 }) })
      const channel = { name: 'short-lived', type: 1, key: 'k', base_url: site.upstreamUrl, models: model }
      const [id] = await site.call<number[]>('POST /api/channel/', channel)
      const own = await site.call<object>(`GET /api/channel/${id}`)
      return tokenChange({ ...site, model }, () => site.call('PUT /api/channel/', { ...own, status: 2 }), '503')
    },
  ],
  [
    'a disabled user',
    async (site) => {
      const ada = await newUser(site)
      const { key } = await ada.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })
      return {
        ask: (url) => send(`${url}/v1/models`, { authorization: `Bearer sk-${key}`, 'x-forwarded-for': ada.address }),
        revoke: () => site.call('POST /api/user/manage', { id: ada.id, action: 'disable' }),
        refusedWith: '403',
      }
    },
  ],
  [
    'a lower role',
    async (site) => {
      const ada = await newUser(site)
      await site.call('POST /api/user/manage', { id: ada.id, action: 'promote' })
      const revoke = () => site.call('POST /api/user/manage', { id: ada.id, action: 'demote' })
      return { ask: (url) => send(`${url}/api/channel/`, ada.headers), revoke, refusedWith: 'permission_denied' }
    },
  ],
  ['an ended session', (site) => ownChange(site, (ada) => ada.call('DELETE /api/user/sessions?all=true'))],
  [
    'a new password',
    (site) => ownChange(site, async ({ id }) => site.call('PUT /api/user/', { id, password: 'another horse 12' })),
  ],
  [
    'a revoked access token',
    async (site) => {
      const ada = await newUser(site)
      const authorization = await ada.call<string>('POST /api/user/token')
      const headers = { authorization, 'new-api-user': `${ada.id}`, 'x-forwarded-for': ada.address }
      return {
        ask: (url) => send(`${url}/api/user/self`, headers),
        revoke: () => ada.call('DELETE /api/user/token'),
        refusedWith: '401',
      }
    },
  ],
  [
    'the session of a person whom the directory of an organisation switches off',
    async (site) => {
      const { person, user, patch } = await newPerson(site)
      return {
        ask: (url) => send(`${url}/api/user/self`, user.headers),
        revoke: () => patch(person, { op: 'Replace', path: 'active', value: 'False' }),
        refusedWith: '401',
      }
    },
  ],
  [
    'the key of a person whom the directory of an organisation switches off',
    async (site) => {
      const { person, user, patch, organisation } = await newPerson(site)
      const input = { name: 'x', unlimited_quota: true, organisation_id: organisation }
      const { key } = await user.call<{ key: string }>('POST /api/token/', input)
      return {
        ask: (url) => send(`${url}/v1/models`, { authorization: `Bearer sk-${key}`, 'x-forwarded-for': user.address }),
        revoke: () => patch(person, { op: 'replace', value: { active: false } }),
        refusedWith: '401',
      }
    },
  ],
  [
    'the token of a directory that is replaced',
    async (site) => {
      const { organisation, scimToken, user } = await newPerson(site)
      const headers = { authorization: `Bearer ${scimToken}`, 'x-forwarded-for': user.address }
      return {
        ask: (url) => send(`${url}/scim/v2/Users`, headers),
        revoke: () => site.call(`POST /api/organisation/${organisation}/scim`),
        refusedWith: '401',
      }
    },
  ],
]

let made = 0
let addresses = 0

interface Option {
  readonly key: string
  readonly value: string
}

interface NewToken {
  readonly id: number
  readonly key: string
}

async function tokenChange(
  site: ChangingSite,
  change: (token: NewToken) => Promise<unknown>,
  refusedWith: string,
): Promise<Revocation> {
  await site.call('PUT /api/option/', { key: 'GroupRatio', value: JSON.stringify({ default: 1, vip: 1 }) })
  const token = await site.call<NewToken>('POST /api/token/', { name: 'short-lived', unlimited_quota: true })
  const headers = { authorization: `Bearer sk-${token.key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: site.model, max_tokens: 1, messages: [{ role: 'user', content: 'hello' }] })
  return { ask: (url) => send(`${url}/v1/chat/completions`, headers, body), revoke: () => change(token), refusedWith }
}

const put = (site: ChangingSite, { id }: NewToken, more: object) =>
  site.call('PUT /api/token/', { id, name: 'short-lived', unlimited_quota: true, ...more })

async function ownChange(site: ChangingSite, revoke: (user: NewUser) => Promise<unknown>): Promise<Revocation> {
  const ada = await newUser(site)
  return { ask: (url) => send(`${url}/api/user/self`, ada.headers), revoke: () => revoke(ada), refusedWith: '401' }
}

interface NewUser {
  readonly id: number
  readonly address: string
  readonly headers: Record<string, string>
  call<Data>(line: string, body?: unknown): Promise<Data>
}

/** A user with a session, from an address of their own. */
async function newUser(site: ChangingSite): Promise<NewUser> {
  const username = `user-${++made}`
  const { id } = await site.call<{ id: number }>('POST /api/user/', { username, display_name: '', password: goodPassword })
  return signedIn(site, { id, username })
}

/** A person whom the directory of a new organisation has sent, with a session. */
async function newPerson(site: ChangingSite) {
  const username = `user-${++made}`
  const { id: organisation } = await site.call<{ id: number }>('POST /api/organisation/', { name: `Firm ${made}` })
  const { token: scimToken } = await site.call<{ token: string }>(`POST /api/organisation/${organisation}/scim`)
  const scim = async (method: string, path: string, body: object) => {
    const headers = { authorization: `Bearer ${scimToken}`, 'content-type': 'application/scim+json' }
    const response = await fetch(`${site.url}/scim/v2${path}`, { method, headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return (await response.json()) as { id: string }
  }
  const { id: person } = await scim('POST', '/Users', { userName: `${username}@firm.example` })
  const { items } = await site.call<{ items: { id: number }[] }>(`GET /api/user/search?keyword=${username}&p=1&page_size=10`)
  const id = items[0]?.id ?? 0
  await site.call('PUT /api/user/', { id, password: goodPassword })
  const user = await signedIn(site, { id, username })
  const patch = (of: string, operation: object) => scim('PATCH', `/Users/${of}`, { Operations: [operation] })
  return { organisation, scimToken, person, user, patch }
}

async function signedIn({ url }: ChangingSite, { id, username }: { id: number; username: string }): Promise<NewUser> {
  const account = { username, password: goodPassword }
  const address = `198.51.100.${++addresses}`
  const json = { 'content-type': 'application/json', 'x-forwarded-for': address }
  const login = await fetch(`${url}/api/user/login`, { method: 'POST', headers: json, body: JSON.stringify(account) })
  const cookie = login.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const headers = { cookie, 'new-api-user': `${id}`, 'x-forwarded-for': address }
  return {
    id,
    address,
    headers,
    async call<Data>(line: string, body?: unknown) {
      const [method = 'GET', path = '/'] = line.split(' ')
      const response = await fetch(url + path, {
        method,
        headers: body === undefined ? headers : { ...headers, ...json },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const answer = (await response.json()) as { success: boolean; message: string; data: Data }
      if (!answer.success) throw new Error(`${line}: ${answer.message}`)
      return answer.data
    },
  }
}

/** One request on a connection of its own, so that any of several processes may accept it. */
function send(url: string, headers: Record<string, string>, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false, method: body === undefined ? 'GET' : 'POST', headers }, async (response) => {
      const { success, code } = JSON.parse(await text(response)) as { success?: boolean; code?: string }
      resolve(success === false && response.statusCode === 200 && code ? code : `${response.statusCode}`)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
