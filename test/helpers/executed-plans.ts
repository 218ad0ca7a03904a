import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { vi } from 'vitest'
import { startPostgres } from '../../scripts/postgres-server.mjs'

/** A node of the plan of a statement that was executed, with what it really read, as PostgreSQL's auto_explain logs it. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  /** Pages of 8 KB, with those of the nodes below. */
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly PlanNode[]
}

export interface ExecutedStatement {
  readonly text: string
  readonly plan: PlanNode
}

/** A PostgreSQL server of its own that can log the plan of every statement that it executes. */
export interface ExplainingPostgres {
  readonly url: string
  /** From now on, new connections log their plans. */
  explain(): Promise<void>
  /** What connections whose `application_name` begins with `application` have executed since the last call. */
  executed(application: string): Promise<ExecutedStatement[]>
  stop(): Promise<void>
}

export async function startExplainingPostgres(): Promise<ExplainingPostgres> {
  const server = await startPostgres({
    more: {
      session_preload_libraries: 'auto_explain',
      'auto_explain.log_min_duration': -1,
      'auto_explain.log_analyze': 'on',
      'auto_explain.log_buffers': 'on',
      'auto_explain.log_timing': 'off',
      'auto_explain.log_format': 'json',
      logging_collector: 'on',
      log_destination: 'jsonlog',
      log_filename: 'plans.log',
      log_rotation_age: 0,
      log_rotation_size: 0,
      max_wal_size: '2GB',
    },
  })
  const url = `${server.url}/postgres`
  const lines = newLines(join(server.data, 'log/plans.json'))
  let operator: pg.Client | undefined
  let marks = 0
  return {
    url,
    async explain() {
      const before = new pg.Client(url)
      await before.connect()
      await before.query('alter role current_user set auto_explain.log_min_duration = 0')
      await before.end()
      operator = new pg.Client(url)
      await operator.connect()
    },
    async executed(application) {
      // Its plan is the last that is logged.
      const mark = `select 'mark ${++marks} of the log'`
      await operator?.query(mark)
      const read: string[] = []
      await vi.waitUntil(
        () => {
          read.push(...lines())
          return read.some((line) => line.includes(mark))
        },
        { timeout: 60_000, interval: 10 },
      )
      return read.flatMap((line) => planIn(line, application) ?? [])
    },
    async stop() {
      await operator?.end()
      await server.stop()
    },
  }
}

/** Returns at each call the lines that a growing file has since the last. */
function newLines(file: string): () => string[] {
  let position = 0
  return () => {
    const bytes = Buffer.alloc(statSync(file).size - position)
    const descriptor = openSync(file, 'r')
    readSync(descriptor, bytes, 0, bytes.length, position)
    closeSync(descriptor)
    const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
    position += whole.length
    return whole.toString('utf8').split('\n').filter(Boolean)
  }
}

/** The statement of a line of the log, which is an object of JSON with the plan as text. */
function planIn(line: string, application: string): ExecutedStatement | undefined {
  const { application_name: by = '', message = '' } = JSON.parse(line) as { application_name?: string; message?: string }
  const plan = /^duration: \S+ ms {2}plan:\n(.*)$/s.exec(message)?.[1]
  if (!by.startsWith(application) || plan === undefined) return undefined
  const explained = JSON.parse(plan) as { 'Query Text': string; Plan: PlanNode }
  return { text: explained['Query Text'], plan: explained.Plan }
}

/** A node and all below it. */
export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

/** How many pages a statement has read, from memory or from disk; the same page counts each time. */
export const pagesOf = ({ plan }: ExecutedStatement) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
