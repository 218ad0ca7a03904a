import { createUser } from '../../src/server/people/accounts/users.ts'
import { goodHash } from './accounts.ts'
import type { TestServer } from './app.ts'

export interface Member {
  readonly id: number
  readonly username: string
  /** The headers that a browser of this user sends. */
  readonly headers: Record<string, string>
  /** Calls the console as this user. */
  call(line: string, body?: unknown): Promise<{ status: number; text: string; json: Answer }>
}

export interface Answer {
  readonly success: boolean
  readonly code?: string
  readonly message: string
  // The tests know the types of the replies.
  readonly data: never
}

/** A logged-in user of a complete server. Each has a separate client address, so that limits of clients do not add up. */
export async function member(server: TestServer, username: string, role = 1): Promise<Member> {
  const user = { username, displayName: '', password_hash: await goodHash, role, at: server.app.now() }
  const id = await server.app.db.transaction().execute((within) => createUser(within, user))
  const token = await server.app.sessions.create({ userId: id, address: '127.0.0.1', userAgent: 'test' })
  const headers = { cookie: `session=${token}`, 'new-api-user': String(id), 'x-forwarded-for': `198.51.100.${id}` }
  return {
    id,
    username,
    headers,
    async call(line, body) {
      const [method = '', path = ''] = line.split(' ')
      const response = await fetch(server.url + path, {
        method,
        headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const isJson = response.headers.get('content-type')?.startsWith('application/json')
      return { status: response.status, text, json: isJson ? JSON.parse(text) : {} }
    },
  }
}
