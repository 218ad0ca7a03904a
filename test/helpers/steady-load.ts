import { setTimeout as pause } from 'node:timers/promises'
import { ask, chat, model } from '../relay/stage.ts'
import type { ServerProcess } from './process.ts'

/** A channel to `url`, and the key of a token that may spend. */
export async function furnish(server: ServerProcess, url: string): Promise<string> {
  await server.call('POST /api/channel/', { name: 'x', type: 1, key: 'k', base_url: url, models: model })
  await server.call('PUT /api/option/', { key: 'ModelRatio', value: JSON.stringify({ [model]: 1 }) })
  await server.call('POST /api/user/1/quota', { change: 1_000_000_000, reason: 'nodes' })
  return `sk-${(await server.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })).key}`
}

export interface SteadyLoad {
  /** Calls with another end than a whole answer. */
  readonly failures: string[]
  /** Request ids of the whole answers. */
  readonly whole: Set<string>
  stop(): Promise<void>
}

/** Sends so many requests a second, every `streamEvery`th of them streamed, until it is stopped. */
export function steadyLoad(url: () => string, key: string, perSecond: number, streamEvery = 2): SteadyLoad {
  const failures: string[] = []
  const whole = new Set<string>()
  let isOver = false
  const running = new Set<Promise<void>>()
  const one = async (isStream: boolean) => {
    const answer = await ask({ url: url() } as never, key, chat({ stream: isStream })).catch((error: Error) => ({
      status: 0,
      text: String(error.cause ?? error),
      headers: new Headers(),
    }))
    const isWhole = answer.status === 200 && answer.text.includes(isStream ? 'data: [DONE]' : '"finish_reason":"stop"')
    if (isWhole) whole.add(answer.headers.get('x-request-id') ?? '')
    else failures.push(`${isStream ? 'stream' : 'JSON'} ${answer.status}: ${answer.text.slice(-200)}`)
  }
  const loop = (async () => {
    for (let count = 0; !isOver; count++) {
      const work = one(count % streamEvery === 0).finally(() => running.delete(work))
      running.add(work)
      await pause(1000 / perSecond)
    }
    await Promise.all(running)
  })()
  return {
    failures,
    whole,
    async stop() {
      isOver = true
      await loop
    },
  }
}
