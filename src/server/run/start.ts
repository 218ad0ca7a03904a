import '../base/lib/process/require-node.ts'
import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { type Env, readEnv, secretVariables } from '../base/env.ts'
import { requireDescriptors } from '../base/lib/process/descriptors.ts'
import { clearEnvironment, emptyCoreDumps, refuseDebugger } from '../base/lib/process/harden-process.ts'
import { holdYoungGeneration } from '../base/lib/process/node-internals.ts'
import { makeNewFilesPrivate } from '../base/lib/process/private-files.ts'
import { startFailure } from '../base/lib/process/start-failure.ts'

/**
 * The first file of the server: reads the environment, and serves in this process, or supervises those that do (`WORKERS`). The
 * server's modules are loaded only in processes that serve.
 */
makeNewFilesPrivate()
const secrets = pick(process.env, secretVariables)
const env = readEnvOrExit()
prepareProcess()
if (env.WORKERS > 1 && cluster.isPrimary) {
  const { supervise } = await import('./supervisor.ts')
  const { WORKERS: workers, HOST: host, PORT: port, DATA_DIR: dataDir } = env
  await supervise({ workers, host, port, dataDir, entry: fileURLToPath(import.meta.url), secrets }).catch((error: unknown) =>
    exitWith(error, env),
  )
} else {
  holdYoungGeneration()
  const { serve } = await import('./serve.ts')
  await serve(env).catch((error: unknown) => exitWith(error, env))
}

/** Called before anything is opened: files may not suffice, and a debugger must not be able to read secrets. */
function prepareProcess(): void {
  try {
    requireDescriptors()
    if (env.NODE_ENV !== 'development') refuseDebugger()
  } catch (error) {
    exitWith(error, env)
  }
  emptyCoreDumps()
  clearEnvironment(secretVariables)
}

function readEnvOrExit() {
  try {
    return readEnv(process.env)
  } catch (error) {
    return exitWith(error)
  }
}

function exitWith(error: unknown, settings?: Env): never {
  process.stderr.write(`Sluice cannot start: ${startFailure(error, settings)}\n`)
  process.exit(1)
}

function pick(from: NodeJS.ProcessEnv, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name]]])))
}
