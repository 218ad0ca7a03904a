import { sql } from 'kysely'
import { logType } from '../../../contract/entities/log.ts'
import { seconds } from '../lib/time/clock.ts'
import { isLarge } from './migration-statements.ts'
import { indexesToBuild, nameOfPart } from './online-indexes.ts'
import type { OnlineSchema, Postgres, Run } from './online-schema.ts'
import { isPartitioned, type Partition, partitionsOf } from './partitions.ts'

/**
 * The log of PostgreSQL by month of its rows, so that months whose rows are no longer kept give their space back at once:
 *
 *   logs_until_2026_12    the log as it was when it was partitioned
 *   logs_2026_12, …       a month each, made before it begins
 *   logs_other            times that are in none of these, as of a node whose clock is wrong
 *   logs_kept_2027_03     in place of the first ones, once their charges were deleted: the rows that are kept for ever
 *
 * The primary key has the time too, as that of a partitioned table must; ids come from one sequence. No row of the log is money: the
 * ledger, whose references are unique, has a table of its own.
 */
const table = 'logs'
const others = 'logs_other'
const monthsAhead = 2
/** The log is partitioned from a month on that is at least so far away: until then rows may still go into the table as it was. */
const leadSeconds = 3 * 86_400
const checkName = 'logs_until'
const keyName = 'logs_month_key'
const newIds = 'logs_new_ids'

interface Partitioned {
  readonly hasChanged: boolean
  readonly detail: string
}

export interface PartitionSettings {
  readonly now: () => number
  readonly signal: AbortSignal
  readonly tell: (detail: string) => void
}

/**
 * Partitions the log, and makes the partitions of the next months. Callers may write and read the log meanwhile; an interrupted run is
 * continued by the next. Tells why the log stays one table where something of the operator depends on it.
 */
export async function partitionLog(database: Postgres, { now, signal, tell }: PartitionSettings): Promise<Partitioned> {
  const wasPartitioned = await isPartitioned(database.db, table)
  const obstacle = await obstacleToPartitions(database)
  if (obstacle !== undefined) return { hasChanged: false, detail: obstacle }
  const missing = wasPartitioned ? await missingMonths(database, now()) : []
  if (wasPartitioned && missing.length === 0) return { hasChanged: false, detail: 'complete' }

  const { OnlineSchema } = await import('./online-schema.ts')
  const schema = new OnlineSchema(database, signal, tell)
  try {
    if (!wasPartitioned) await partition(database, schema, now())
    for (const month of await missingMonths(database, now())) await schema.brief([others], (run) => addMonth(run, month))
    // Autovacuum never analyses the whole of a partitioned table.
    await schema.long(`analyze ${table}`, 'statistics of the log')
    return { hasChanged: true, detail: wasPartitioned ? `made ${missing.map(({ name }) => name).join(', ')}` : 'partitioned' }
  } finally {
    await schema.close()
  }
}

/** What keeps the log one table; undefined if it is partitioned, or nothing does. */
export async function obstacleToPartitions(database: Postgres): Promise<string | undefined> {
  if (await isPartitioned(database.db, table)) return undefined
  const { missing } = await indexesToBuild(database)
  if (missing.some((index) => index.table === table)) return 'waiting for the indexes of the log'
  const { rows } = await sql<{ what: string }>`
    select distinct 'the view ' || r.ev_class::regclass as what
      from pg_depend d join pg_rewrite r on r.oid = d.objid
      where d.refobjid = to_regclass(${table}) and d.classid = 'pg_rewrite'::regclass
    union all select 'the trigger ' || tgname from pg_trigger where tgrelid = to_regclass(${table}) and not tgisinternal
    union all select 'the publication ' || p.pubname from pg_publication_rel r join pg_publication p on p.oid = r.prpubid
      where r.prrelid = to_regclass(${table})`.execute(database.db)
  const [row] = rows
  return row && `the log stays one table, because ${row.what} depends on it`
}

interface Month extends Partition {
  readonly begin: number
  readonly end: number
}

/** The month of a time and those after it that have no partition. */
async function missingMonths({ db }: Postgres, nowMs: number): Promise<readonly Month[]> {
  const partitions = await partitionsOf(db, table)
  const covered = Math.max(0, ...partitions.map(({ end = 0 }) => end))
  const months = Array.from({ length: monthsAhead + 1 }, (_, later) => monthOf(seconds(nowMs), later))
  return months.filter(({ begin }) => begin >= covered)
}

/** The calendar month, in UTC, of a time in unix seconds, or one that is so many months later. */
function monthOf(at: number, later = 0): Month {
  const date = new Date(at * 1000)
  const [begin, end] = [later, later + 1].map((months) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months) / 1000)
  if (begin === undefined || end === undefined) throw new Error('A month has a begin and an end')
  return { name: `${table}_${nameOf(begin)}`, begin, end }
}

function nameOf(monthBegin: number): string {
  return new Date(monthBegin * 1000).toISOString().slice(0, 7).replace('-', '_')
}

/** Makes the table the first partition. What reads or checks all rows is done before, beside requests. */
async function partition(database: Postgres, schema: OnlineSchema, nowMs: number): Promise<void> {
  const end = (await isLarge(database.db, table)) ? await prepare(database, schema, nowMs) : await firstEnd(database, nowMs)
  await schema.brief([table], (run) => exchange(run, end))
}

/** The begin of a month that is after every row. */
async function firstEnd({ db }: Postgres, nowMs: number): Promise<number> {
  const { rows } = await sql<{ last: number | null }>`select max(created_at) as last from ${sql.table(table)}`.execute(db)
  return monthOf(Math.max(rows[0]?.last ?? 0, seconds(nowMs) + leadSeconds)).end
}

/** The key with the time, and the check that spares PostgreSQL reading all rows under the lock. Returns the end of the partition. */
async function prepare(database: Postgres, schema: OnlineSchema, nowMs: number): Promise<number> {
  const { db } = database
  const { rows: keys } = await sql`
    select 1 from pg_index where indexrelid = to_regclass(${keyName}) and indisvalid`.execute(db)
  if (keys.length === 0) {
    await schema.long(`drop index concurrently if exists ${keyName}`, keyName)
    await schema.long(`create unique index concurrently ${keyName} on ${table} (id, created_at)`, keyName)
  }
  const { rows: checks } = await sql<{ text: string }>`
    select pg_get_constraintdef(oid) as text from pg_constraint
    where conrelid = to_regclass(${table}) and conname = ${checkName}`.execute(db)
  const [, known] = /< '?(\d+)/.exec(checks[0]?.text ?? '') ?? []
  const isUsable = known !== undefined && Number(known) >= seconds(nowMs) + leadSeconds
  const end = isUsable ? Number(known) : await firstEnd(database, nowMs)
  if (!isUsable) {
    await schema.brief([table], async (run) => {
      await run(`alter table ${table} drop constraint if exists ${checkName}`)
      await run(`alter table ${table} add constraint ${checkName} check (created_at < ${end}) not valid`)
    })
  }
  await schema.long(`alter table ${table} validate constraint ${checkName}`, 'the times of the log')
  return end
}

/**
 * A moment for a table of any length, if it was prepared: requests wait for one round trip to the database. Nobody else changes the definition of
 * the table meanwhile.
 */
async function exchange(run: Run, end: number): Promise<void> {
  const until = `${table}_until_${nameOf(end)}`
  const key = nameOfPart(keyName, table, until)
  const indexes = await run<{ name: string; definition: string; is_key: boolean }>(`
    select c.relname as name, pg_get_indexdef(c.oid) as definition, i.indisprimary as is_key
    from pg_index i join pg_class c on c.oid = i.indexrelid where i.indrelid = '${table}'::regclass`)
  const grants = await run<{ text: string }>(`
    select format('grant %s on ${table} to %s', privilege_type, case grantee when 'PUBLIC' then 'public' else quote_ident(grantee) end) as text
    from information_schema.role_table_grants where table_schema = current_schema() and table_name = '${table}' and grantee <> grantor`)
  const [of] = await run<{ ids: string | null; owner: string }>(`
    select pg_get_serial_sequence('${table}', 'id') as ids, quote_ident(rolname) as owner
    from pg_class c join pg_roles r on r.oid = c.relowner where c.oid = '${table}'::regclass`)
  if (!of?.ids) throw new Error('The log has no sequence')

  const steps = [
    `lock table ${table} in access exclusive mode`,
    `alter table ${table} rename to ${until}`,
    ...indexes.map(({ name }) => `alter index "${name}" rename to "${nameOfPart(name, table, until)}"`),
    `create unique index if not exists ${key} on ${until} (id, created_at)`,
    `alter table ${until} drop constraint ${nameOfPart(`${table}_pkey`, table, until)}`,
    `alter table ${until} add primary key using index ${key}`,
    `create sequence ${newIds} as bigint`,
    `select setval('${newIds}', last_value, is_called) from ${of.ids}`,
    `alter table ${until} alter column id drop identity`,
    `create table ${table} (like ${until} including defaults including storage, primary key (id, created_at)) partition by range (created_at)`,
    `alter sequence ${newIds} rename to ${table}_id_seq`,
    `alter sequence ${table}_id_seq owned by ${table}.id`,
    `alter table ${table} alter column id set default nextval('${table}_id_seq')`,
    ...indexes.flatMap(({ name, definition, is_key }) => (is_key || name === keyName ? [] : [definition])),
    `alter table ${table} attach partition ${until} for values from (minvalue) to (${end})`,
    `alter table ${until} drop constraint if exists ${checkName}`,
    `create table ${others} partition of ${table} default`,
    `alter table ${table} owner to ${of.owner}`,
    ...grants.map(({ text }) => text),
  ]
  await run(steps.join(';\n'))
}

/** Rows that came before their month was made are in the partition of the others. */
async function addMonth(run: Run, { name, begin, end }: Month): Promise<void> {
  const isThere = `created_at >= ${begin} and created_at < ${end}`
  await run(`create table ${name} (like ${table} including storage including indexes, check (${isThere}))`)
  await moveOthers(run, { into: name, where: isThere })
  await run(`alter table ${table} attach partition ${name} for values from (${begin}) to (${end})`)
  await run(`alter table ${name} drop constraint ${name}_created_at_check`)
}

async function moveOthers(run: Run, { into, where }: { readonly into: string; readonly where: string }): Promise<void> {
  await run(`lock table ${others} in access exclusive mode`)
  await run(`with moved as (delete from ${others} where ${where} returning *) insert into ${into} select * from moved`)
}

/**
 * Deletes the charges of whole months before a time, in unix seconds, by dropping their partitions; their other rows move into one partition.
 * Returns the number of charges. Throws when a long query keeps the log locked.
 */
export async function dropMonths(database: Postgres, before: number, signal: AbortSignal): Promise<number> {
  const old = (await partitionsOf(database.db, table)).filter(({ end = Number.POSITIVE_INFINITY }) => end <= before)
  const last = old.at(-1)
  // Without a further month there is nothing to drop.
  if (!last || isKept(last)) return 0
  const { OnlineSchema } = await import('./online-schema.ts')
  const schema = new OnlineSchema(database, signal, () => {})
  try {
    const names = old.map(({ name }) => name)
    return await schema.brief(names, (run) => dropPartitions(run, names, last.end ?? 0))
  } finally {
    await schema.close()
  }
}

function isKept({ name }: Partition): boolean {
  return name.startsWith(`${table}_kept_`)
}

async function dropPartitions(run: Run, old: readonly string[], end: number): Promise<number> {
  const kept = `${table}_kept_${nameOf(end)}`
  const isCharge = `type = ${logType.consume}`
  await run(`create table ${kept} (like ${table} including storage including indexes, check (created_at < ${end}))`)
  let removed = 0
  for (const name of old) {
    // Late rows of these months wait.
    await run(`lock table ${name} in exclusive mode`)
    await run(`insert into ${kept} select * from ${name} where not (${isCharge})`)
    const [charges] = await run<{ count: number }>(`select count(*) as count from ${name} where ${isCharge}`)
    removed += charges?.count ?? 0
  }
  await moveOthers(run, { into: kept, where: `created_at < ${end}` })
  const steps = [
    ...old.flatMap((name) => [`alter table ${table} detach partition ${name}`, `drop table ${name}`]),
    `alter table ${table} attach partition ${kept} for values from (minvalue) to (${end})`,
    `alter table ${kept} drop constraint ${kept}_created_at_check`,
  ]
  await run(steps.join(';\n'))
  return removed
}
