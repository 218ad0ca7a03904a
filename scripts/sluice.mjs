// `npm run sluice -- COMMAND`: installs and builds missing or stale parts, then runs the server's command line. Its own messages go
// to standard error, so that the output of a command stays machine-readable.
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded } from './lib/install.mjs'

const print = console.log
console.log = console.error
await installWhenNeeded()
await buildWhenStale({ only: ['server'] })
console.log = print

await import('../dist/server/sluice.js')
