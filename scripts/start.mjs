// `npm start [-- --port NUMBER] [-- --open]`: installs and builds missing or stale parts, then runs the server. Prints only when it does something.
import { parseArgs } from 'node:util'
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded } from './lib/install.mjs'

const options = startOptions()
await installWhenNeeded()
await buildWhenStale()

const { loadEnvFile, prepareStart } = await import('../dist/server/run/prepare-start.js')
loadEnvFile()
prepareStart(options)
// The server runs in this process, so that signals and the exit code are its own.
await import('../dist/server/main.js')

function startOptions() {
  try {
    return parseArgs({ options: { port: { type: 'string' }, open: { type: 'boolean' } } }).values
  } catch (error) {
    console.error(`${error.message}\nnpm start [-- --port NUMBER] [-- --open]`)
    process.exit(1)
  }
}
