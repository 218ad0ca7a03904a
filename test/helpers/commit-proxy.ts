import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { openDatabase } from '../../src/server/base/db/open.ts'
import type { TestDatabase } from './databases.ts'
import { listeningPort } from './listening.ts'

/** When the connection of the next COMMIT breaks, and whether later connections reach the database. */
interface Loss {
  /**
   * `unsent`: the database never sees the COMMIT and ends the transaction. `unanswered`: it commits, and the answer is lost.
   * `delayed`: the COMMIT is held back until `deliver`, and the transaction stays open.
   */
  readonly commit: 'unsent' | 'unanswered' | 'delayed'
  readonly afterwards: 'reachable' | 'away'
}

interface CommitProxy {
  /** The same database, reached through the proxy. */
  readonly database: TestDatabase
  loseNext(loss: Loss): void
  /** Makes the database reachable again. */
  bringBack(): void
  /** Lets the delayed COMMIT arrive; resolves when the database has answered it. */
  deliver(): Promise<void>
}

/** A TCP peer between a node and PostgreSQL that breaks the connection at a COMMIT. Ends with the test. */
export async function commitProxy(database: TestDatabase): Promise<CommitProxy> {
  const url = new URL(database.env.DATABASE_URL)
  const target = { host: url.hostname, port: Number(url.port) }
  const sockets = new Set<Socket>()
  let loss: Loss | undefined
  let isAway = false
  let delayed: { readonly peer: Socket; readonly bytes: Buffer } | undefined

  const server = createServer((client) => {
    client.on('error', () => {})
    if (isAway) return client.destroy()
    const peer = connect(target)
    peer.on('error', () => {})
    for (const socket of [client, peer]) sockets.add(socket)
    client.on('data', (bytes) => {
      const now = loss
      if (!now || !bytes.includes('commit\0')) return void peer.write(bytes)
      loss = undefined
      isAway = now.afterwards === 'away'
      peer.removeAllListeners('data')
      if (now.commit === 'unanswered') {
        peer.write(bytes)
        peer.once('data', () => client.destroy())
        return
      }
      if (now.commit === 'delayed') {
        client.removeAllListeners('close')
        delayed = { peer, bytes }
      }
      client.destroy()
    })
    peer.on('data', (bytes) => client.write(bytes))
    client.on('close', () => peer.destroy())
    peer.on('close', () => client.destroy())
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  url.port = String(await listeningPort(server))
  const env = { ...database.env, DATABASE_URL: url.href }
  return {
    database: { ...database, env, open: () => openDatabase(env) },
    loseNext(next) {
      loss = next
    },
    bringBack() {
      isAway = false
    },
    async deliver() {
      if (!delayed) throw new Error('no COMMIT was delayed')
      const { peer, bytes } = delayed
      peer.write(bytes)
      await new Promise((resolve) => peer.once('data', resolve))
    },
  }
}
