// `npm start`: installs and builds missing or stale parts, then runs the server. Prints only when it does something.
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded } from './lib/install.mjs'

await installWhenNeeded()
await buildWhenStale()

// The server runs in this process, so that signals and the exit code are its own.
await import('../dist/server/main.js')
