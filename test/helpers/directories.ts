import { expect } from 'vitest'
import type { Organisation } from '../../src/contract/entities/organisation.ts'
import type { TestServer } from './app.ts'

interface ScimAnswer {
  readonly status: number
  readonly type: string
  // Its form is what the tests show.
  readonly json: Record<string, never>
}

/** The directory of an organisation, as SCIM sees it. */
export interface Directory {
  readonly id: number
  /** The calls of the console about the organisation. */
  readonly path: string
  scim(line: string, body?: object): Promise<ScimAnswer>
  /** Adds a user; returns its id in the directory and that of its account. */
  add(userName: string, more?: object): Promise<{ id: string; userId: number }>
  memberOf(userId: number): Promise<OfMember | undefined>
}

interface OfMember {
  readonly id: number
  readonly user_id: number
  readonly role: string
  readonly teams: readonly { readonly name: string; readonly is_manager: boolean }[]
}

export const patchOf = (...Operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations,
})

let made = 0

/** A new organisation with a confirmed domain and a token of SCIM. */
export async function openDirectory(server: TestServer, domain = `d${++made}.example`): Promise<Directory> {
  const { id } = await server.call<Organisation>('POST /api/organisation/', { name: `Firm ${++made}` })
  const path = `/api/organisation/${id}`
  await server.call(`PUT ${path}/sign-on/domains`, { domains: [domain] })
  await server.call(`POST ${path}/sign-on/domains`, { domain, is_confirmed: true })
  const { token } = await server.call<{ token: string }>(`POST ${path}/scim`)
  const scim = (line: string, body?: object) => askScim(server, token, line, body)
  return {
    id,
    path,
    scim,
    async add(userName, more = {}) {
      const { status, json } = await scim('POST /Users', { userName, externalId: `x-${userName}`, ...more })
      expect(status, JSON.stringify(json)).toBe(201)
      const person = server.app.db.selectFrom('directory_people').select('user_id').where('id', '=', Number(json.id))
      return { id: String(json.id), userId: (await person.executeTakeFirstOrThrow()).user_id }
    },
    async memberOf(userId) {
      const { items } = await server.call<{ items: OfMember[] }>(`GET ${path}/members?page_size=100`)
      return items.find(({ user_id }) => user_id === userId)
    },
  }
}

/** A call of SCIM with any token. */
export async function askScim(server: TestServer, token: string, line: string, body?: object): Promise<ScimAnswer> {
  const [, method = '', path = ''] = /^(\w+) (.*)$/.exec(line) ?? []
  const response = await fetch(`${server.url}/scim/v2${encodeURI(path)}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      'accept-language': 'en',
      ...(body ? { 'content-type': 'application/scim+json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    json: text === '' ? {} : JSON.parse(text),
  }
}
