import { randomBytes } from 'node:crypto'
import { Bus } from '../../src/server/base/bus/bus.ts'
import { openSecrets } from '../../src/server/base/db/key-ring.ts'
import type { Database } from '../../src/server/base/db/open.ts'
import { type Env, readEnv } from '../../src/server/base/env.ts'
import { newMetrics } from '../../src/server/base/lib/process/metrics.ts'
import type { Clock } from '../../src/server/base/lib/time/clock.ts'
import type { Core } from '../../src/server/base/options/core.ts'
import { openOptions } from '../../src/server/base/options/store.ts'
import { Passwords } from '../../src/server/people/accounts/passwords.ts'
import type { TestDatabase } from './databases.ts'
import { testLogger } from './logger.ts'

export const testMasterKey = Buffer.alloc(32, 7)
export const rootPassword = 'correct-horse-1'

/** Hashes that cost next to nothing. Tests of the strength of passwords use `new Passwords()`. */
export const cheapPasswords = () => new Passwords(cheapStrength)
export const cheapStrength = { memoryCost: 8, timeCost: 1, parallelism: 1 }

/** The parts that every rule uses, over an open database and without network. */
export async function testCore(database: Database, more: { now?: Clock; env?: Partial<Env>; node?: string } = {}): Promise<Core> {
  const now = more.now ?? Date.now
  const logger = testLogger()
  const env = { ...readEnv({}), ...more.env }
  const node = more.node ?? `test-${randomBytes(4).toString('hex')}`
  const secrets = await openSecrets(database, testMasterKey, now())
  const base = {
    env,
    now,
    steady: now,
    logger,
    metrics: newMetrics(),
    database,
    db: database.db,
    secrets,
    bus: new Bus(logger),
    siblings: undefined,
    node,
  }
  return { ...base, options: await openOptions(base) }
}

/** A core over an empty database of its own; `close` deletes both. */
export async function freshCore(
  fresh: () => Promise<TestDatabase>,
  more: Parameters<typeof testCore>[1] = {},
): Promise<{ core: Core; close: () => Promise<void> }> {
  const test = await fresh()
  const database = await test.open()
  const close = async () => {
    await database.close()
    await test.drop()
  }
  return { core: await testCore(database, more), close }
}
