// `npm run dev`: the compiler, the server and Vite watch the sources. Ctrl-C, or the end of one of them, stops all three.
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded } from './lib/install.mjs'
import { commandOf, startNode } from './lib/process.mjs'

await installWhenNeeded()
await buildWhenStale()

const children = [
  startNode(commandOf('typescript', 'tsc'), ['-b', 'tsconfig.server.json', '--watch', '--preserveWatchOutput']),
  startNode('dist/server/run/start.js', [], {
    nodeArgs: ['--watch', '--watch-preserve-output', '--enable-source-maps'],
    // A change is served at once.
    env: { DRAIN_DELAY: '0' },
  }),
  startNode(commandOf('vite')),
]

for (const child of children) child.once('exit', stop)
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)

function stop() {
  for (const child of children) if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
}
