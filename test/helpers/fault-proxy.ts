import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { listeningPort } from './listening.ts'

/** A TCP proxy that forwards, stalls or drops connections on command. */
export interface FaultProxy {
  readonly port: number
  /** Accepts connections and bytes, and forwards nothing, like a network that drops packets. */
  silence(): void
  /** Forwards the bytes held back, and everything after them. */
  heal(): void
  /** Drops all connections, including new ones, until it is healed. */
  cut(): void
}

/** Ends with the test. */
export async function faultProxy(target: { host: string; port: number }): Promise<FaultProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let mode: 'passes' | 'silent' | 'cut' = 'passes'
  const server = createServer((client) => {
    client.on('error', () => {})
    if (mode === 'cut') return client.destroy()
    const peer = connect(target)
    const pair = [client, peer] as const
    pairs.add(pair)
    for (const [from, to] of [pair, [peer, client]] as const) {
      from.on('error', () => {})
      from.on('data', (data) => to.write(data))
      from.on('close', () => {
        to.destroy()
        pairs.delete(pair)
      })
    }
    if (mode === 'silent') for (const socket of pair) socket.pause()
  })
  const each = (act: (socket: Socket) => void) => {
    for (const pair of pairs) for (const socket of pair) act(socket)
  }
  const hangUp = () => each((socket) => socket.destroy())
  onTestFinished(() => {
    hangUp()
    server.close()
  })

  return {
    port: await listeningPort(server),
    silence() {
      mode = 'silent'
      each((socket) => socket.pause())
    },
    heal() {
      mode = 'passes'
      each((socket) => socket.resume())
    },
    cut() {
      mode = 'cut'
      hangUp()
    },
  }
}
