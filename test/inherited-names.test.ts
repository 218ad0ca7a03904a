import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { sealed } from '../src/contract/options/codec.ts'
import { parseLine, type Routes } from '../src/contract/route.ts'
import { allRoutes } from '../src/contract/routes/index.ts'
import { groupsToTry, usableGroups } from '../src/server/money/pricing/groups.ts'
import { startServer, type TestServer } from './helpers/app.ts'
import { testLogger } from './helpers/logger.ts'
import { sampled } from './helpers/torture.ts'
import { inheritedNames } from './relay/inherited-names.ts'

/** The parts of JSON Schema that describe a value. */
interface Shape {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Shape>>
  readonly additionalProperties?: Shape | boolean
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
  readonly oneOf?: readonly Shape[]
}

/** Calls that would send requests to other hosts. */
const outside = /\/update|test_mail|channel\/(test|fetch_models)|model_changes/

describe('names that every object inherits, in the console', () => {
  let server: TestServer
  const failures: string[] = []
  beforeAll(async () => {
    server = await startServer('sqlite', {
      env: { TRUSTED_PROXIES: '127.0.0.1' },
      logger: testLogger('error', (line) => void failures.push(line)),
    })
  })
  afterAll(() => server.stop())

  it('are ordinary names in every member, parameter and header of every call', async () => {
    const { app, url } = server
    const failed: string[] = []
    let count = 0
    for (const [nth, [line, { query, body }]] of Object.entries(allRoutes as Routes).entries()) {
      if (outside.test(line)) continue
      const { method, path } = parseLine(line)
      for (const name of sampled(inheritedNames, 4, nth)) {
        const parameters = [...Object.keys(query?.shape ?? {}), name].map((parameter) => [parameter, name])
        for (const json of body ? bodiesOf(body, name) : [undefined]) {
          const session = await app.sessions.create({ userId: 1, address: '192.0.2.1', userAgent: name })
          const response = await fetch(`${url}${path.replace(/:\w+/g, name)}?${new URLSearchParams(parameters)}`, {
            method,
            headers: {
              cookie: `session=${session}; ${name}=${name}`,
              'new-api-user': '1',
              'accept-language': name,
              'content-type': 'application/json',
              // A new client address each time: client limits are tested elsewhere.
              'x-forwarded-for': `198.18.${Math.floor(++count / 250)}.${(count % 250) + 1}`,
            },
            ...(json === undefined ? {} : { body: json }),
          })
          const text = await response.text()
          if (response.status >= 500 && response.status !== 501) failed.push(`${line} with ${name}: ${text.slice(0, 300)}`)
          // A call may have changed the account itself.
          await app.db.updateTable('users').set({ role: 100, status: 1, deleted_at: null }).where('id', '=', 1).execute()
          app.bus.publish('user', 1)
        }
      }
    }
    expect(failed).toEqual([])
    expect(failures.slice(0, 3)).toEqual([])
  })

  it('are ordinary names of groups: a member of one may use it at its own ratio', () => {
    for (const group of ['toString', 'hasOwnProperty', 'valueOf']) {
      // Options are sealed objects.
      const options = sealed({ GroupRatio: { default: 1, [group]: 2 }, UserUsableGroups: { default: 'x' } }) as Parameters<
        typeof usableGroups
      >[0]
      expect(Object.entries(usableGroups(options, group))).toEqual([
        ['default', { ratio: 1, desc: 'x' }],
        [group, { ratio: 2, desc: expect.any(String) }],
      ])
      expect(groupsToTry(options, { userGroup: group, tokenGroup: 'auto' })).toEqual(['default', group])
      expect(() => groupsToTry(options, { userGroup: 'default', tokenGroup: group })).toThrow('not available')
    }
  })
})

/**
 * A full body whose strings and free keys are the name, the same without optional members, and one with only a member of that name.
 */
function bodiesOf(schema: z.ZodType, name: string): string[] {
  // The conversion of a schema is JSON Schema.
  const shape = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape
  const whole = filled(shape, name)
  return [whole, Object.fromEntries([...Object.entries(Object(whole)), [name, name]]), Object.fromEntries([[name, name]])].map(
    (value) => JSON.stringify(value),
  )
}

function filled(shape: Shape, name: string, depth = 6): unknown {
  const choice = (shape.anyOf ?? shape.oneOf)?.[0]
  if (depth === 0) return name
  if (choice) return filled(choice, name, depth - 1)
  if ('const' in shape) return shape.const
  if (shape.type === 'number' || shape.type === 'integer') return 1
  if (shape.type === 'boolean') return true
  if (shape.type === 'array') return [filled(shape.items ?? {}, name, depth - 1)]
  if (shape.type !== 'object') return shape.enum?.[0] ?? name
  const named = Object.entries(shape.properties ?? {}).map(([member, inner]) => [member, filled(inner, name, depth - 1)] as const)
  const free =
    typeof shape.additionalProperties === 'object' ? [[name, filled(shape.additionalProperties, name, depth - 1)] as const] : []
  return Object.fromEntries([...named, ...free])
}
