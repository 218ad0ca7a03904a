// A process that sends requests like ordinary callers, and is the upstream that answers them: its measurements do not include its
// parent's load.
import { setTimeout as pause } from 'node:timers/promises'
import { startFakeUpstream } from '../../scripts/fake-upstream.mjs'

const upstream = await startFakeUpstream()
let isOver = true
let asking = Promise.resolve()
process.send({ url: upstream.url })

process.on('message', (told) => {
  if (told === 'stop') isOver = true
  else asking = ask(told)
})
process.on('disconnect', () => process.exit())

async function ask({ url, key, body }) {
  await asking
  isOver = false
  const took = []
  const statuses = new Set()
  while (!isOver) {
    const since = performance.now()
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body }).catch((error) => ({
      status: String(error),
      text: async () => '',
    }))
    await response.text()
    statuses.add(response.status)
    took.push(performance.now() - since)
    await pause(10)
  }
  took.sort((a, b) => a - b)
  process.send({ statuses: [...statuses], count: took.length, slowestMs: took[Math.floor(took.length * 0.99)] ?? 0 })
}
