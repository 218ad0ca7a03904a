import { sql } from 'kysely'
import { decodeOption, encodeOption, optionTextLengthMax } from '../../../contract/options/codec.ts'
import { defaults } from '../../../contract/options/defaults.ts'
import { type FoundOption, findOption, type OptionValues } from '../../../contract/options/index.ts'
import type { Queries } from '../db/open.ts'
import type { Secrets } from '../lib/secrets/secrets.ts'
import { isUnmet, requirements } from './checks.ts'

/** The stored options, and the rows that were skipped. */
interface StoredOptions {
  readonly values: OptionValues
  /** Key of a bad row and its fault; never its value. */
  readonly faults: ReadonlyMap<string, string>
}

/**
 * Reads all options. No row can make it fail: an unknown, too long, unreadable or out-of-range value counts as absent and leaves the
 * value of `last`, or the default; a switch without its requirements is turned off.
 */
export async function readOptions(db: Queries, secrets: Secrets, last: OptionValues = defaults): Promise<StoredOptions> {
  const bounded = sql<string | null>`case when length(value) <= ${optionTextLengthMax} then value end`
  const rows = await db
    .selectFrom('options')
    .select(['key', bounded.as('value')])
    .execute()
  const values: Record<string, unknown> = { ...defaults }
  const faults = new Map<string, string>()

  for (const { key, value } of rows) {
    const found = findOption(key)
    if (!found) {
      faults.set(key, 'is no option')
      continue
    }
    const read = value === null ? { fault: 'is too long' } : readRow(found, value, secrets)
    if ('fault' in read) faults.set(key, read.fault)
    values[key] = 'fault' in read ? last[found.key] : read.value
  }

  for (const requirement of requirements.filter((one) => isUnmet(values, one))) {
    faults.set(requirement.option, `needs ${requirement.needs}`)
    values[requirement.option] = defaults[requirement.option]
  }
  // It began with all defaults, and every replacement has passed the schema of its key.
  return { values: Object.freeze(values) as OptionValues, faults }
}

/** Writes one option, sealed when it is secret. A secret that is empty leaves no row. */
export async function writeOption(db: Queries, secrets: Secrets, { key, option }: FoundOption, value: unknown): Promise<void> {
  const plain = encodeOption(option, value)
  if (option.secret && plain === '') {
    await db.deleteFrom('options').where('key', '=', key).execute()
    return
  }
  const text = option.secret ? secrets.seal(plain, place(key)) : plain
  await db
    .insertInto('options')
    .values({ key, value: text })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: text }))
    .execute()
}

function readRow({ key, option }: FoundOption, text: string, secrets: Secrets): { value: unknown } | { fault: string } {
  const plain = option.secret ? opened(text, key, secrets) : text
  if (plain === undefined) return { fault: 'cannot be decrypted' }
  const decoded = decodeOption(option, plain)
  return 'reason' in decoded ? { fault: decoded.reason.en } : decoded
}

function opened(text: string, key: string, secrets: Secrets): string | undefined {
  try {
    return secrets.open(text, place(key))
  } catch {
    // Reported as a fault of the row: the error itself might quote the stored value.
    return undefined
  }
}

function place(key: string) {
  return { table: 'options', column: 'value', row: key }
}
