import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import {
  type DataKey,
  fieldSecrets,
  newDataKey,
  type Secrets,
  unwrapDataKey,
  wrapDataKey,
  wrappingKey,
} from '../lib/secrets/secrets.ts'
import { seconds } from '../lib/time/clock.ts'
import type { Database, Within } from './open.ts'
import type { Row } from './schema.ts'

/**
 * The master key and the data keys that it wraps. The first start creates one data key; a node whose master key does not decrypt the
 * database's ring refuses to start, because it could neither read nor write a secret. With the previous key available the ring is
 * rewrapped: only the wrapping of the data keys changes, so nodes with the old master key keep working until they are restarted.
 */
export async function openSecrets(
  { db, dialect }: Database,
  masterKey: Buffer,
  nowMs: number,
  previousKey?: Buffer,
): Promise<Secrets> {
  const wrapping = wrappingKey(masterKey)
  const before = previousKey && wrappingKey(previousKey)
  const first = newDataKey()

  const rows = await db.transaction().execute(async (trx) => {
    // Two nodes may start at the same time: the second waits and then finds the key of the first.
    if (dialect === 'postgres') await sql`lock table key_ring in exclusive mode`.execute(trx)
    const existing = await trx.selectFrom('key_ring').selectAll().orderBy('created_at').orderBy('id').execute()
    if (existing.length > 0) return before ? rewrap(trx, existing, { wrapping, before }) : existing
    const row = { id: first.id, wrapped: wrapDataKey(wrapping, first), created_at: seconds(nowMs) }
    await trx.insertInto('key_ring').values(row).execute()
    return [row]
  })

  const keys = rows.map((row) => open(wrapping, row.id, row.wrapped))
  const newest = keys.at(-1)
  if (!newest) throw new Error('The key ring is empty')
  return fieldSecrets(keys, newest.id)
}

type Ring = Row<'key_ring'>[]

async function rewrap(within: Within, rows: Ring, { wrapping, before }: Record<'wrapping' | 'before', Buffer>): Promise<Ring> {
  const fresh: Ring = []
  for (const row of rows) {
    const dataKey = opened(before, row)
    // Not wrapped with the old master key: already with the new one, or with neither, which fails when it is decrypted.
    const wrapped = dataKey ? wrapDataKey(wrapping, dataKey) : row.wrapped
    if (dataKey) await within.updateTable('key_ring').set({ wrapped }).where('id', '=', row.id).execute()
    fresh.push({ ...row, wrapped })
  }
  return fresh
}

function opened(wrapping: Buffer, { id, wrapped }: Ring[number]): DataKey | undefined {
  try {
    return unwrapDataKey(wrapping, id, wrapped)
  } catch {
    return undefined
  }
}

/**
 * Finds the master key: `MASTER_KEY`, then `MASTER_KEY_FILE`, then `master.key` in the data folder, which the first start creates.
 * `created` makes the caller print a notice.
 */
export function readMasterKey(env: {
  MASTER_KEY: string
  MASTER_KEY_PREVIOUS: string
  MASTER_KEY_FILE: string
  DATA_DIR: string
}): { key: Buffer; previous?: Buffer; created?: string } {
  const previous = env.MASTER_KEY_PREVIOUS === '' ? {} : { previous: parse(env.MASTER_KEY_PREVIOUS, 'MASTER_KEY_PREVIOUS') }
  if (env.MASTER_KEY !== '') return { key: parse(env.MASTER_KEY, 'MASTER_KEY'), ...previous }
  const file = masterKeyFile(env)
  if (env.MASTER_KEY_FILE !== '' || existsSync(file)) return { key: readKeyFile(file), ...previous }
  mkdirSync(env.DATA_DIR, { recursive: true, mode: 0o700 })
  const key = randomBytes(32)
  writeFileSync(file, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  chmodSync(file, 0o600)
  return { key, created: file }
}

/** The path of the master key file, if `MASTER_KEY` is not set. */
export function masterKeyFile(env: { readonly MASTER_KEY_FILE: string; readonly DATA_DIR: string }): string {
  return env.MASTER_KEY_FILE || join(env.DATA_DIR, 'master.key')
}

export function readKeyFile(file: string): Buffer {
  if (!existsSync(file))
    throw new Error(
      `MASTER_KEY_FILE: ${file} does not exist, or this user may not look there. Without the key of its database a site cannot start`,
    )
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) {
    throw new Error(`The master key file ${file} is readable by others; run: chmod 600 ${file}`)
  }
  return parse(readFileSync(file, 'utf8').trim(), file)
}

function parse(text: string, where: string): Buffer {
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32) throw new Error(`${where} must be 32 bytes in base64; make one with: openssl rand -base64 32`)
  return key
}

function open(wrapping: Buffer, id: string, wrapped: string): DataKey {
  try {
    return unwrapDataKey(wrapping, id, wrapped)
  } catch (cause) {
    throw new Error(
      'The master key does not open the secrets of this database. Start with the master key that this database was made with.',
      { cause },
    )
  }
}
