import { request } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Called {
  /** Request ids of the calls that were answered with 200, whole. */
  readonly answered: string[]
  /** Calls whose connection was open and broke, or that were answered with an error: their process died. */
  cut: number
  /** Connections that nobody accepted. */
  refused: number
  /** The longest time between the ends of two answers, in milliseconds. */
  longestGapMs: number
}

/** Calls of a number of callers, each after the other and on a connection of its own, until `stop`. */
export function startCallers(
  count: number,
  call: { url: string; key: string; body: unknown },
): { readonly called: Called; stop(): Promise<void> } {
  const called: Called = { answered: [], cut: 0, refused: 0, longestGapMs: 0 }
  let isOver = false
  let lastMs = performance.now()
  const callUntilOver = async () => {
    while (!isOver) {
      const id = await callOnce(call).catch((error: NodeJS.ErrnoException) => error)
      if (typeof id === 'string') {
        called.answered.push(id)
        called.longestGapMs = Math.max(called.longestGapMs, performance.now() - lastMs)
        lastMs = performance.now()
      } else if (id?.code === 'ECONNREFUSED') called.refused++
      else called.cut++
    }
  }
  const callers = Array.from({ length: count }, callUntilOver)
  return {
    called,
    async stop() {
      isOver = true
      await Promise.all(callers)
    },
  }
}

/** The request id of an answer with 200, undefined for another one. Rejects with the error of the connection. */
function callOnce({ url, key, body }: { url: string; key: string; body: unknown }): Promise<string | undefined> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/v1/chat/completions`, { agent: false, method: 'POST', headers }, (response) => {
      const id = response.statusCode === 200 ? String(response.headers['x-request-id']) : undefined
      text(response).then(() => resolve(id), reject)
    })
    sent.once('error', reject)
    sent.end(JSON.stringify(body))
  })
}
