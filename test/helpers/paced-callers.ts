import { setTimeout as pause } from 'node:timers/promises'
import { ask, chat, model } from '../relay/stage.ts'
import type { ServerProcess } from './process.ts'

/** A channel to `url`, and the key of a token that may spend. */
export async function furnish(server: Pick<ServerProcess, 'call'>, url: string): Promise<string> {
  await server.call('POST /api/channel/', { name: 'x', type: 1, key: 'k', base_url: url, models: model })
  await server.call('PUT /api/option/', { key: 'ModelRatio', value: JSON.stringify({ [model]: 1 }) })
  await server.call('POST /api/user/1/quota', { change: 1_000_000_000, reason: 'nodes' })
  return `sk-${(await server.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })).key}`
}

interface PacedCallers {
  /** Answers with another status than 200 or without their end, and connections that failed. */
  readonly failures: readonly string[]
  /** Request ids of the answers that came whole. */
  readonly whole: ReadonlySet<string>
  /** The longest call so far, in milliseconds. */
  readonly longestMs: number
  /** Resolves when no call runs any more. */
  stop(): Promise<void>
}

/**
 * Sends requests at a rate, whether or not earlier ones have been answered, until it is stopped. One of `streamOneIn` is a stream. Several
 * urls are as a name with several addresses: each call begins with another, and goes to the next where no connection is made.
 */
export function startPacedCallers({
  url,
  key,
  perSecond,
  streamOneIn = 2,
}: {
  url: string | readonly string[]
  key: string
  perSecond: number
  streamOneIn?: number
}): PacedCallers {
  const failures: string[] = []
  const whole = new Set<string>()
  const running = new Set<Promise<void>>()
  let longestMs = 0
  let isOver = false
  const addresses = [url].flat()
  const one = async (isStream: boolean, from: number) => {
    const startedMs = performance.now()
    const order = addresses.map((_, at) => addresses[(from + at) % addresses.length] ?? '')
    const answer = await askFirst(order, key, isStream)
    longestMs = Math.max(longestMs, performance.now() - startedMs)
    const isWhole = answer.status === 200 && answer.text.includes(isStream ? 'data: [DONE]' : '"finish_reason":"stop"')
    if (isWhole) whole.add(answer.headers.get('x-request-id') ?? '')
    else failures.push(`${isStream ? 'stream' : 'JSON'} ${answer.status}: ${answer.text.slice(-200)}`)
  }
  const loop = (async () => {
    for (let count = 0; !isOver; count++) {
      const work = one(count % streamOneIn === 0, count).finally(() => running.delete(work))
      running.add(work)
      await pause(1000 / perSecond)
    }
    await Promise.all(running)
  })()
  return {
    failures,
    whole,
    get longestMs() {
      return longestMs
    },
    async stop() {
      isOver = true
      await loop
    },
  }
}

async function askFirst(addresses: readonly string[], key: string, isStream: boolean) {
  for (const [at, url] of addresses.entries()) {
    try {
      return await ask({ url }, key, chat({ stream: isStream }))
    } catch (error) {
      const { cause } = error as Error & { cause?: { code?: string } }
      if (cause?.code !== 'ECONNREFUSED' || at === addresses.length - 1)
        return { status: 0, text: String(cause ?? error), headers: new Headers() }
    }
  }
  throw new Error('No address')
}
