// The built server as a separate process that treats loopback as the public internet, so that tests can serve what it fetches.
// Prints the delay of its event loop since the last time, as JSON, whenever it gets SIGUSR2.
import { monitorEventLoopDelay } from 'node:perf_hooks'

const built = new URL(process.env.BUILT ?? '../../dist/server/', import.meta.url)
const { openApp } = await import(new URL('run/app.js', built).href)
const { readEnv } = await import(new URL('base/env.js', built).href)
const { listen } = await import(new URL('console/http/server.js', built).href)

const anywhere = { allowsPort: () => true, allows: () => true, resolve: async () => [{ address: '127.0.0.1', family: 4 }] }
const { app } = await openApp(readEnv(process.env), { upstream: { untrusted: anywhere } })
Object.assign(app.upstream, { untrusted: anywhere })
const { url } = await listen(app)
console.log(`listens on ${url}`)

const delay = monitorEventLoopDelay({ resolution: 10 })
delay.enable()
process.on('SIGUSR2', () => {
  console.log(`delays ${JSON.stringify({ p99: delay.percentile(99) / 1e6, max: delay.max / 1e6, count: delay.count })}`)
  delay.reset()
})
