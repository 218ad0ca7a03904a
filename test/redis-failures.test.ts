import { createServer } from 'node:tls'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openRedisTransport } from '../src/server/base/bus/redis.ts'
import { redisFailure } from '../src/server/base/bus/redis-client.ts'
import { RedisWindows } from '../src/server/gateway/limits/redis-windows.ts'
import { doctorCommand } from '../src/server/run/commands/doctor.ts'
import { testCertificate, testKey } from './helpers/certificate.ts'
import { testMasterKey } from './helpers/core.ts'
import { freshDatabase } from './helpers/databases.ts'
import { freePort } from './helpers/free-port.ts'
import { listeningPort } from './helpers/listening.ts'
import { testLogger } from './helpers/logger.ts'
import { startRedis } from './helpers/redis-server.ts'
import { runCommand } from './helpers/sluice.ts'
import { eventually } from './relay/stage.ts'

/** Why Redis cannot be used, as the log and doctor say it: the reason, what to do, and no secret. */

const password = 'right-secret'

/** The warnings of both users of Redis, once each has one. */
async function warningsOf(url: string): Promise<string[]> {
  const lines: string[] = []
  const logger = testLogger('warn', (line) => void lines.push(JSON.parse(line).msg))
  const transport = await openRedisTransport({ url, prefix: 'test', logger }, { receive: async () => {}, changed: () => {} })
  const windows = await RedisWindows.open({ url, prefix: 'test', logger })
  onTestFinished(async () => {
    await transport.close()
    await windows.close()
  })
  await eventually('both have warned', () => lines.length >= 2)
  return lines.toSorted()
}

async function doctorSays(url: string): Promise<string> {
  const database = await freshDatabase('sqlite', 'started')
  const env = { ...database.env, MASTER_KEY: testMasterKey.toString('base64'), REDIS_URL: url, PORT: '0' }
  return (await runCommand(doctorCommand, [], env)).output
}

async function requireTold(url: string, reason: string): Promise<void> {
  const lines = await warningsOf(url)
  expect(lines).toEqual([
    `REDIS IS UNREACHABLE: it ${reason}. Nothing is lost: news between nodes takes another way until it is back`,
    `REDIS IS UNREACHABLE: it ${reason}. Request limits are counted by each node on its own until it is back`,
  ])
  const report = await doctorSays(url)
  expect(report).toContain(`WARNING Redis: Redis ${reason}\n        `)
  expect(lines.join() + report).not.toContain('secret')
}

describe('with a real Redis', () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  let open: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => {
    redis = await startRedis({ password })
    open = await startRedis()
    return async () => {
      await redis?.stop()
      await open?.stop()
    }
  })

  it.for([
    [':wrong-secret@', 'refuses the user or the password in REDIS_URL (WRONGPASS): correct them, with special characters as %XX'],
    [
      'ann:right-secret@',
      'refuses the user or the password in REDIS_URL (WRONGPASS): correct them, with special characters as %XX',
    ],
    ['', 'requires a password (NOAUTH): write it into REDIS_URL, as redis://:password@host:6379'],
  ] as const)('redis://%shost of a Redis with a password', async ([login, reason], { skip }) => {
    if (!redis) return skip('redis-server is not installed')
    await requireTold(redis.url.replace('//', `//${login}`), reason)
  })

  it.for([
    ['a password', '//:any-secret@', '', 'has no password, but REDIS_URL names one: leave it out'],
    ['the number of a database', '//', '/99', 'has no database of the number in REDIS_URL: leave it out'],
  ] as const)('%s that Redis does not have', async ([, login, path, reason], { skip }) => {
    if (!open) return skip('redis-server is not installed')
    await requireTold(`${open.url.replace('//', login)}${path}`, reason)
  })

  it('rediss:// of a Redis without TLS', async ({ skip }) => {
    if (!open) return skip('redis-server is not installed')
    const reason = 'does not answer in time: check its load and firewalls, and with rediss:// whether it speaks TLS'
    await requireTold(open.url.replace('redis:', 'rediss:'), reason)
  })

  it('a Redis that starts later is used without a restart', async ({ skip }) => {
    const late = await startRedis({ password })
    if (!late) return skip('redis-server is not installed')
    const lines: { level: number; msg: string }[] = []
    const logger = testLogger('info', (line) => void lines.push(JSON.parse(line)))
    const changed = { url: late.url.replace('//', `//:${password}@`), prefix: 'test', logger }
    await late.kill()
    const transport = await openRedisTransport(changed, { receive: async () => {}, changed: () => {} })
    onTestFinished(async () => {
      await transport.close()
      await late.stop()
    })
    await eventually('it has warned', () => lines.length > 0)
    await late.start()
    await eventually('it is back', () => transport.isUp)
    expect(lines.map(({ msg }) => msg)).toEqual([expect.stringContaining('ECONNREFUSED'), 'Redis is back'])
  })
})

it('an address at which nothing listens, a name without an address, and a TLS server', async () => {
  const refused = 'does not listen at the address in REDIS_URL (ECONNREFUSED): start it, or correct host and port'
  await requireTold(`redis://:any-secret@127.0.0.1:${await freePort()}`, refused)
  expect(await doctorSays('redis://:any-secret@nowhere.invalid')).toMatch(
    /WARNING Redis: Redis is at a name that cannot be resolved \((?:ENOTFOUND|EAI_AGAIN)\): check the host in REDIS_URL\n/,
  )

  const server = createServer({ cert: testCertificate, key: testKey }).on('tlsClientError', () => {})
  onTestFinished(() => void server.close())
  const host = `127.0.0.1:${await listeningPort(server)}`
  expect(await doctorSays(`redis://${host}`)).toContain(
    'WARNING Redis: Redis closes the connection: with redis:// check whether it requires TLS (rediss://)\n',
  )
  expect(await doctorSays(`rediss://${host}`)).toContain(
    'WARNING Redis: Redis has a certificate that is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT): name the file of its authority in NODE_EXTRA_CA_CERTS\n',
  )
})

it('an answer that repeats a command is cut before the arguments', () => {
  const { reason } = redisFailure(new Error("ERR unknown command 'AUTH', with args beginning with: 'any-secret'"))
  expect(reason).toBe("reports: ERR unknown command 'AUTH'")
})
