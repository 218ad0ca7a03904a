// `npm start`, `npm test` and each `npm run …` begin here: `node scripts/run.mjs NAME …` runs scripts/NAME.mjs. Where Node is older than
// Sluice needs, a newer one is fetched from npm and runs the script instead. This file and what it imports run on Node 18.
import { spawn } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fetchNode, isSupported } from './lib/fetch-node.mjs'

const [, , name, ...args] = process.argv
const script = fileURLToPath(new URL(`${name}.mjs`, import.meta.url))

if (isSupported(process.versions.node)) {
  process.argv.splice(1, 2, script)
  await import(`./${name}.mjs`)
} else {
  const { program, publishedOn } = await fetchNode()
  const PATH = dirname(program) + delimiter + process.env.PATH
  runInstead(spawn(program, [script, ...args], { stdio: 'inherit', env: { ...process.env, PATH, FETCHED_NODE: publishedOn } }))
}

/** Ends as the other process ends, and passes on the signals that this one gets. */
function runInstead(child) {
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  process.on('SIGHUP', () => child.kill('SIGHUP'))
  // A terminal sends it to both; a server that gets it twice stops without waiting for its responses.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'))
  child.once('error', (error) => {
    console.error(`The fetched Node cannot run: ${error.message}. Install Node 24 from https://nodejs.org.`)
    process.exit(1)
  })
  child.once('exit', (code) => process.exit(code ?? 1))
}
