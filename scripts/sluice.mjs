// `npm run sluice -- COMMAND`: installs and builds what is missing or stale, then becomes the command line of the server. Its own words go
// to the standard error output, so that the answer of a command stays machine-readable.
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded, requireNode } from './lib/install.mjs'

const print = console.log
console.log = console.error
requireNode()
await installWhenNeeded()
await buildWhenStale({ only: ['server'] })
console.log = print

await import('../dist/server/commands/sluice.js')
