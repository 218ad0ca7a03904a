import cluster, { type Worker } from 'node:cluster'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { roleVariable, socketVariable } from './bus/siblings.ts'
import { randomText } from './lib/ids.ts'

export interface Start {
  /** Number of processes that serve, at least 2. */
  readonly workers: number
  /** The file that each process runs. */
  readonly entry: string
  /** Settings that this process no longer has in its environment. */
  readonly secrets: Readonly<Record<string, string>>
}

/** A process that ended is replaced after this pause. */
const restartMs = 1000

/**
 * Starts the processes that serve one port, an owner first and then its workers, and replaces those that end. A new owner gets new workers, because those of the old one have lost their ledger. Ends when all have ended, with the
 * owner's exit code.
 */
export function supervise({ workers, entry, secrets }: Start): void {
  const socket = ownerSocket()
  const running = new Set<Worker>()
  let isStopping = false
  let whenEmpty: (() => void) | undefined

  // Every process accepts from one socket. If this process accepted connections and passed them on, a connection on its way to a
  // dying process would hang.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  cluster.setupPrimary({ exec: entry, args: process.argv.slice(2) })
  startOwner()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)

  function startOwner(): void {
    let isReady = false
    const owner = start('owner', {
      onReady() {
        isReady = true
        for (let count = 1; count < workers; count++) startWorker(owner)
      },
      onExit(code) {
        // Without its owner a worker can neither hold nor charge.
        if (!isStopping) for (const worker of running) worker.process.kill('SIGKILL')
        whenAllEnded(() => {
          if (isStopping || !isReady) return end(code ?? 1)
          log(`the owner ended with ${code}; all processes start again`)
          setTimeout(() => (isStopping ? end(0) : startOwner()), restartMs)
        })
      },
    })
  }

  function startWorker(owner: Worker): void {
    start('worker', {
      onExit(code) {
        if (isStopping || owner.isDead()) return
        log(`a worker ended with ${code}; another takes its place`)
        setTimeout(() => {
          if (!isStopping && !owner.isDead()) startWorker(owner)
        }, restartMs)
      },
    })
  }

  function start(role: string, { onReady, onExit }: { onReady?: () => void; onExit(code: number | null): void }): Worker {
    const child = cluster.fork({ ...secrets, [socketVariable]: socket.path, [roleVariable]: role })
    running.add(child)
    // The process receives messages from now on.
    child.on('message', () => (isStopping ? child.send('stop') : onReady?.()))
    child.on('exit', (code) => {
      running.delete(child)
      onExit(code)
      if (running.size === 0) whenEmpty?.()
    })
    return child
  }

  function whenAllEnded(then: () => void): void {
    whenEmpty = () => {
      whenEmpty = undefined
      then()
    }
    if (running.size === 0) whenEmpty()
  }

  /** The first call lets running requests end; a further call aborts them. */
  function stop(): void {
    isStopping = true
    for (const child of running) if (child.isConnected()) child.send('stop')
  }

  function end(code: number): void {
    socket.remove()
    process.exit(code)
  }
}

/** The path of the owner's socket, in a folder that no other user of the machine may enter. */
function ownerSocket(): { readonly path: string; remove(): void } {
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\sluice-${randomText(16)}`, remove: () => {} }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'))
  return { path: join(folder, 'owner'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function log(line: string): void {
  process.stderr.write(`Sluice: ${line}\n`)
}
