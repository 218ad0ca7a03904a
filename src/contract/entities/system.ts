import { z } from 'zod'

/** The state of the running installation, for admins. */

export const auditRow = z.object({
  id: z.int(),
  created_at: z.int(),
  /** 0 when the system itself acted. */
  actor_id: z.int(),
  actor_name: z.string(),
  address: z.string(),
  /** The action, as `option.save` or `user.disable`. */
  action: z.string(),
  /** The target, as `option:Price` or `user:7`. */
  target: z.string(),
  before: z.string(),
  after: z.string(),
})
export type AuditRow = z.output<typeof auditRow>

/** The sort key of the audit log: the order of the actions. */
export const auditSorts = ['id'] as const

export const auditState = z.object({
  rows: z.int(),
  /**
   * The chain value of the last row that continues the chain: a copy kept elsewhere also reveals rows that were removed at the end.
   */
  head: z.string(),
  /** The first row that does not continue the chain; null when all do. */
  broken_at: z.int().nullable(),
})

const bothLanguages = z.object({ zh: z.string(), en: z.string() })

export const job = z.object({
  name: z.string(),
  label: bothLanguages,
  /** Whether it runs on one node at a time, or on each node. */
  on: z.enum(['one-node', 'each-node']),
  /** 0 while it is not scheduled. */
  every_seconds: z.number(),
  /** Whether it may be started on demand, outside its schedule. */
  on_demand: z.boolean(),
  /** `never` before its first run. */
  outcome: z.enum(['never', 'running', 'ok', 'failed', 'timeout']),
  started_at: z.int(),
  finished_at: z.int(),
  /** The node of the last run. */
  node: z.string(),
  /** The progress of a job over many items: done, total, and the number of items per result. */
  progress: z.object({ done: z.int(), total: z.int(), counts: z.record(z.string(), z.int()) }).nullable(),
  /** Its result, or the reason of its failure. */
  detail: z.string(),
})
export type SystemJob = z.output<typeof job>

const node = z.object({
  name: z.string(),
  version: z.string(),
  started_at: z.int(),
  seen_at: z.int(),
  /** Whether the node has reported within the last minute. */
  alive: z.boolean(),
  /** Whether it is the node that answers this request. */
  here: z.boolean(),
  memory_mb: z.int(),
})

export const systemInfo = z.object({
  version: z.string(),
  runtime: z.string(),
  platform: z.string(),
  database: z.enum(['sqlite', 'postgres']),
  redis: z.boolean(),
  started_at: z.int(),
  /** The server's clock, in unix seconds. */
  now: z.int(),
  update_feed: z.boolean(),
  /** Entries of TRUSTED_PROXIES behind which every caller may name its own address. */
  risky_proxies: z.array(z.string()),
  /** The newest backup that `sluice backup` has made of this database; null before the first. */
  last_backup: z.object({ made_at: z.int(), duration_ms: z.int(), bytes: z.int(), rows: z.int() }).nullable(),
  nodes: z.array(node),
})

export type SystemInfo = z.output<typeof systemInfo>

/** The disk that the database takes, in bytes. */
export const storage = z.object({
  database: z.enum(['sqlite', 'postgres']),
  bytes: z.number(),
  /** Space of deleted rows in the file of SQLite, which `sluice compact` gives back. */
  unused_bytes: z.number(),
  /** The largest tables with their indexes; none where the file is too long to be measured while a reader waits. */
  tables: z.array(z.object({ name: z.string(), bytes: z.number(), partitions: z.int() })),
})
export type Storage = z.output<typeof storage>

const unusedShare = 0.25
const unusedLeast = 100 * 1024 ** 2

/** Whether the space of deleted rows is worth a stop of the server. */
export function isWorthCompacting({ bytes, unused_bytes }: Pick<Storage, 'bytes' | 'unused_bytes'>): boolean {
  return unused_bytes >= Math.max(unusedLeast, bytes * unusedShare)
}

export const firstRun = z.object({ has_channel: z.boolean(), has_token: z.boolean(), has_call: z.boolean() })
export type FirstRun = z.output<typeof firstRun>

export const release = z.object({
  current: z.string(),
  latest: z.string(),
  is_newer: z.boolean(),
  title: z.string(),
  /** The text of the publisher, unchecked: show it as plain text only. */
  notes: z.string(),
  /** The URL of the release notes; '' when the feed names no https page. */
  url: z.string(),
  published_at: z.string(),
})
export type Release = z.output<typeof release>
