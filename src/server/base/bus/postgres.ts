import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type pg from 'pg'
import type { Queries } from '../db/open.ts'
import { newPostgresClient } from '../db/postgres-hosts.ts'
import type { Logger } from '../lib/log/logger.ts'
import { setActiveTimeout } from '../lib/time/active-time.ts'
import type { Receiver, Transport } from './transport.ts'

const channel = 'sluice_news'
const retryMs = { first: 200, most: 5000 }
const echoEveryMs = 5000
const echoWaitMs = 3000

interface PostgresParts {
  readonly url: string
  readonly db: Queries
  readonly logger: Logger
}

/**
 * Notifications by LISTEN and NOTIFY. One connection only listens and is reopened when it breaks; sending takes any connection of
 * the pool. The listening connection sends itself an echo: this detects a dead peer, and a pooler in between that drops
 * notifications.
 */
export function openPostgresTransport({ url, db, logger }: PostgresParts, receiver: Receiver): Transport {
  const echo = `sluice_echo_${randomBytes(8).toString('hex')}`
  let client: pg.Client | undefined
  let isUp = false
  let isWarned = false
  let isClosed = false
  let waitMs = retryMs.first
  let cancel = () => {}

  const later = (ms: number, work: () => void) => {
    cancel()
    cancel = setActiveTimeout(ms, work)
  }

  const down = (failed: pg.Client, error: unknown) => {
    if (failed !== client || isClosed) return
    client = undefined
    void failed.end().catch(() => {})
    if (!isWarned) logger.warn({ error }, 'no listening connection to PostgreSQL; news from other nodes is polled meanwhile')
    isWarned = true
    const wasUp = isUp
    isUp = false
    later(waitMs * (0.5 + Math.random()), open)
    waitMs = Math.min(waitMs * 2, retryMs.most)
    if (wasUp) receiver.changed()
  }

  const sendEcho = (from: pg.Client) => {
    from.query('select pg_notify($1, $2)', [echo, '']).catch((error: unknown) => down(from, error))
    later(echoWaitMs, () => down(from, new Error('No echo from PostgreSQL')))
  }

  const echoed = (from: pg.Client) => {
    waitMs = retryMs.first
    later(echoEveryMs, () => sendEcho(from))
    if (isUp) return
    isUp = true
    if (isWarned) logger.info('listening to PostgreSQL again')
    isWarned = false
    receiver.changed()
  }

  const open = () => {
    const opened = newPostgresClient(url, {
      application_name: 'sluice-news',
      connectionTimeoutMillis: echoWaitMs,
      keepAlive: true,
    })
    client = opened
    opened.on('error', (error) => down(opened, error))
    opened.on('end', () => down(opened, new Error('The connection was closed')))
    opened.on('notification', (notification) => {
      if (opened !== client) return
      if (notification.channel === echo) echoed(opened)
      else receiver.receive(notification.payload ?? '')
    })
    opened
      .connect()
      .then(() => opened.query(`listen ${channel}; listen ${echo}`))
      .then(() => sendEcho(opened))
      .catch((error: unknown) => down(opened, error))
  }

  open()
  return {
    name: 'postgres',
    get isUp() {
      return isUp
    },
    async send(message) {
      await sql`select pg_notify(${channel}, ${message})`.execute(db)
    },
    async close() {
      isClosed = true
      cancel()
      // Not awaited: a server that hangs must not delay the end of this process.
      client?.end().catch(() => {})
    },
  }
}
