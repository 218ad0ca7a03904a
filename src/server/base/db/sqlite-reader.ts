import { type ChildProcess, fork } from 'node:child_process'
import { builtModule } from '../lib/process/root.ts'
import { raceAbort } from '../lib/time/race-abort.ts'
import type { Flush } from './contention.ts'
import type { ReadingConnections } from './reading-connections.ts'
import type { Answer, Statement } from './sqlite-reading.ts'

/** An idle process ends after this time, because it only takes memory. */
const idleMs = 60_000

type Rows = Record<string, unknown>[]

/**
 * Reads a SQLite file in a separate process, one statement at a time: a thread could not be interrupted inside of a statement, and
 * this process would block with it. The process starts with the first statement, and ends when it is cancelled or idle.
 */
export class SqliteReader implements ReadingConnections {
  readonly count = 1
  readonly #file: string
  readonly #flush: Flush
  #child: ChildProcess | undefined
  #last: Promise<unknown> = Promise.resolve()
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  constructor({ file, flush }: { file: string; flush: Flush }) {
    this.#file = file
    this.#flush = flush
  }

  readonly read: ReadingConnections['read'] = (sql, parameters, signal) => {
    const turn = this.#last.then(() => this.#flush(sql)).then(() => this.#ask({ sql, parameters }, signal))
    this.#last = turn.catch(() => {})
    return raceAbort(turn, signal)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    const child = this.#child
    if (!child) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    keepAlive(child)
    this.#end(child)
    await ended
  }

  #ask(statement: Statement, signal: AbortSignal | undefined): Promise<Rows> {
    signal?.throwIfAborted()
    clearTimeout(this.#idle)
    const child = this.#child ?? this.#start()
    const stop = () => this.#end(child)
    signal?.addEventListener('abort', stop)
    keepAlive(child)
    return answerOf(child, statement).finally(() => {
      signal?.removeEventListener('abort', stop)
      if (!this.#isClosed) letExit(child)
      this.#idle = setTimeout(stop, idleMs).unref()
    })
  }

  #start(): ChildProcess {
    if (this.#isClosed) throw new Error('The database is not open')
    const child = fork(builtModule('base/db/sqlite-reading.js'), [this.#file], {
      // The child process gets no secrets of this process, and no Node options of the operator.
      env: {},
      execArgv: [],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined
    })
    this.#child = child
    return child
  }

  /** Kills the process. It only reads, so that nothing is left incomplete. */
  #end(child: ChildProcess): void {
    if (this.#child === child) this.#child = undefined
    child.kill('SIGKILL')
  }
}

/** Keeps this process alive for as long as it waits for the child. */
function keepAlive(child: ChildProcess): void {
  child.ref()
  child.channel?.ref()
}

/** An idle child does not keep this process alive. */
function letExit(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}

/** The answer to one statement; one runs at a time. Rejects when the process ends before it has answered, or did not start. */
function answerOf(child: ChildProcess, statement: Statement): Promise<Rows> {
  return new Promise((resolve, reject) => {
    const heard = (answer: Answer) => {
      child.off('exit', over).off('error', over)
      // Written by `sqlite-reading.ts`.
      if ('rows' in answer) resolve(JSON.parse(answer.rows) as Rows)
      else reject(new Error(answer.failed))
    }
    const over = (cause: unknown) => {
      child.off('message', heard)
      reject(new Error('unable to open database: the process that reads it ended', { cause }))
    }
    child.once('message', heard).once('exit', over).once('error', over)
    child.send(statement, (error) => error && over(error))
  })
}
