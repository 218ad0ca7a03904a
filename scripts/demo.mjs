// `npm run demo`: the complete path of a call on one machine: a simulated provider, a separate empty data folder, a channel, a
// token, one streamed chat with its charge, and a running console. Ctrl-C ends it.
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildWhenStale } from './build.mjs'
import { startFakeUpstream } from './fake-upstream.mjs'
import { freePort, signIn, startGateway } from './lib/gateway.mjs'
import { installWhenNeeded } from './lib/install.mjs'
import { root } from './lib/process.mjs'

const folder = join(root, 'data-demo')
const marker = join(folder, '.sluice-demo')
const password = 'sluice-demo'
const model = 'gpt-6-luna'
const question = 'Reply slowly: what does a sluice do when the water in front of it rises higher than the water behind it?'

await installWhenNeeded()
await buildWhenStale()
await emptyFolder()

const upstream = await startFakeUpstream({ models: [model] })
upstream.program(model, { pauseMs: 60 })
const gateway = await startGateway({
  port: await freePort(3000),
  env: { DATA_DIR: folder, ROOT_PASSWORD: password, LOG_LEVEL: 'warn' },
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)

const call = await signIn(gateway.url, { password })
await call('POST /api/channel/', {
  body: { type: 1, name: 'Simulated provider', key: 'sk-simulated', base_url: upstream.url, models: model, groups: ['default'] },
})
const token = await call('POST /api/token/', { body: { name: 'demo', unlimited_quota: true } })
const key = token.key.startsWith('sk-') ? token.key : `sk-${token.key}`
console.log(`Simulated provider on ${upstream.url}, channel and token made.\n\n> ${question}`)

const before = await call('GET /api/user/self')
await chat()
const after = await call('GET /api/user/self')
const [row] = (await call('GET /api/log/self', { query: { type: '2' } })).items

const dollars = (quota) => `$${(quota / 500_000).toFixed(6)}`
console.log(`
Charged ${row.quota} units (${dollars(row.quota)}) for ${row.prompt_tokens} prompt and ${row.completion_tokens} completion tokens of ${row.model_name}.
Balance ${before.quota} → ${after.quota}. Request ${row.request_id}.

Console   ${gateway.url}
Login     root / ${password}
API       ${gateway.url}/v1 with key ${key}

Press Ctrl-C to end the demo.`)
process.exitCode = await gateway.exited

/** Streams one answer through the gateway and prints its text as it arrives. */
async function chat() {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: question }] }),
  })
  if (!response.ok) throw new Error(`The chat failed with status ${response.status}: ${await response.text()}`)

  let unread = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (unread + chunk).split('\n\n')
    unread = events.pop()
    for (const event of events.filter((text) => text.startsWith('data: {'))) {
      process.stdout.write(JSON.parse(event.slice(6)).choices[0]?.delta.content ?? '')
    }
  }
  process.stdout.write('\n')
}

/** Deletes the folder of an earlier demo. Any other folder is left unchanged. */
async function emptyFolder() {
  if (existsSync(folder) && !existsSync(marker) && (await readdir(folder)).length > 0) {
    console.error(`${folder} holds something else than a demo; move it away and run the demo again.`)
    process.exit(1)
  }
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(marker, 'Made by `npm run demo`, which empties this folder every time.\n')
}

async function stop() {
  await gateway.stop()
  await upstream.stop()
}
