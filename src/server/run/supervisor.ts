import type { SendHandle } from 'node:child_process'
import cluster, { type Worker } from 'node:cluster'
import { lookup } from 'node:dns/promises'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { portWanted, roleVariable, type StopSignal, socketVariable, stopSignals } from '../base/bus/siblings.ts'
import { type BoundPort, bindPort } from '../base/lib/process/node-internals.ts'
import { randomText } from '../base/lib/secrets/ids.ts'

interface Start {
  /** Number of processes that serve, at least 2. */
  readonly workers: number
  readonly host: string
  readonly port: number
  /** DATA_DIR, which this process may write to, unlike perhaps anything else. */
  readonly dataDir: string
  /** The file that each process runs. */
  readonly entry: string
  /** Settings that this process no longer has in its environment. */
  readonly secrets: Readonly<Record<string, string>>
}

/** A process that ends soon after its start is replaced after a pause: it would probably end again. */
const restartMs = 1000
const shortLifeMs = 10_000

/**
 * Starts the processes that serve one port, an owner first and then its workers, and replaces those that end. A new owner gets new workers,
 * because those of the old one have lost their ledger. The port stays bound meanwhile: connections wait for the new processes, and none
 * is refused. Ends when all have ended, with the owner's exit code. Rejects when the port cannot be bound.
 */
export async function supervise({ workers, host, port: number, dataDir, entry, secrets }: Start): Promise<void> {
  const { address } = await lookup(host, { order: 'ipv4first' })
  let port: BoundPort | undefined = bindPort({ address, port: number })
  const socket = ownerSocket(dataDir)
  const running = new Set<Worker>()
  let stopping: StopSignal | undefined
  let whenEmpty: (() => void) | undefined

  cluster.setupPrimary({ exec: entry, args: process.argv.slice(2) })
  startOwner()
  for (const signal of stopSignals) process.on(signal, () => stop(signal))

  function startOwner(): void {
    let isReady = false
    const startedAt = performance.now()
    const owner = start('owner', {
      onReady() {
        isReady = true
        for (let count = 1; count < workers; count++) startWorker(owner)
      },
      onExit(code) {
        // Without its owner a worker can neither hold nor charge.
        if (!stopping) for (const worker of running) worker.process.kill('SIGKILL')
        whenAllEnded(() => {
          if (stopping || !isReady) return end(code ?? 1)
          log(`the owner ended with ${code}; all processes start again`)
          setTimeout(() => (stopping ? end(0) : startOwner()), pauseMs(startedAt))
        })
      },
    })
  }

  function startWorker(owner: Worker): void {
    const startedAt = performance.now()
    start('worker', {
      onExit(code) {
        if (stopping || owner.isDead()) return
        log(`a worker ended with ${code}; another takes its place`)
        setTimeout(() => {
          if (!stopping && !owner.isDead()) startWorker(owner)
        }, pauseMs(startedAt))
      },
    })
  }

  function start(role: string, { onReady, onExit }: { onReady?: () => void; onExit(code: number | null): void }): Worker {
    const child = cluster.fork({ ...secrets, [socketVariable]: socket.path, [roleVariable]: role })
    running.add(child)
    // The process receives messages from now on.
    child.on('message', (message) => {
      // Every process accepts from one socket. If this process accepted connections and passed them on, a connection on its way to a dying
      // process would hang. A process that starts during a stop gets no port, and ends. The types of Node do not have such a handle.
      if (message === portWanted) child.process.send(portWanted, port as SendHandle)
      else if (stopping) child.send(stopping)
      else onReady?.()
    })
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
  function stop(signal: StopSignal): void {
    stopping ??= signal
    // From now on nobody accepts: a connection that waits here would hang.
    port?.close()
    port = undefined
    for (const child of running) if (child.isConnected()) child.send(signal)
  }

  function end(code: number): void {
    socket.remove()
    process.exit(code)
  }
}

/** Milliseconds until a process that was started at that time is replaced. */
function pauseMs(startedAt: number): number {
  return performance.now() - startedAt < shortLifeMs ? restartMs : 0
}

/** The most bytes that the path of a socket may have on all systems. */
const socketPathMax = 100

/** The path of the owner's socket, in a folder that no other user of the machine may enter. */
function ownerSocket(dataDir: string): { readonly path: string; remove(): void } {
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\sluice-${randomText(16)}`, remove: () => {} }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const own = join(resolve(dataDir), 'workers-')
  const folder = mkdtempSync(Buffer.byteLength(own) + 'abcdef/owner'.length <= socketPathMax ? own : join(tmpdir(), 'sluice-'))
  return { path: join(folder, 'owner'), remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function log(line: string): void {
  process.stderr.write(`Sluice: ${line}\n`)
}
