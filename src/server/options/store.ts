import { sql } from 'kysely'
import { checkOptions } from '../../contract/options/check.ts'
import { decodeOption, encodeOption } from '../../contract/options/codec.ts'
import { defaults } from '../../contract/options/defaults.ts'
import { type FoundOption, findOption, type OptionValues } from '../../contract/options/index.ts'
import { isRoot } from '../../contract/roles.ts'
import { fail } from '../lib/failure.ts'
import { Snapshot } from '../lib/snapshot.ts'
import { recordAudit } from './audit.ts'
import { requireConsistent } from './checks.ts'
import type { Caller, Core, OptionStore } from './core.ts'
import { readOptions, writeOption } from './rows.ts'

type Parts = Pick<Core, 'database' | 'db' | 'secrets' | 'bus' | 'logger' | 'now'>

/** Loads the options and keeps them up to date with the other nodes. Throws when the declarations have a mistake. */
export async function openOptions(parts: Parts): Promise<OptionStore> {
  checkOptions()
  let last = defaults
  const snapshot = new Snapshot(async () => {
    const { values, faults } = await readOptions(parts.db, parts.secrets, last)
    for (const [option, fault] of faults) parts.logger.error({ option, fault }, 'passed over a row of the options table')
    last = values
    return values
  })
  await snapshot.refresh()
  const unsubscribe = parts.bus.on('options', () =>
    snapshot.follow((error) => parts.logger.error({ error }, 'the options are not read yet')),
  )

  /** Tells everybody of a committed change. */
  const announce = async () => {
    parts.bus.publish('options')
    await snapshot.refresh()
  }

  return {
    get current() {
      return snapshot.current
    },
    async refresh() {
      await snapshot.refresh()
    },
    async save({ key, value, caller }) {
      const found = requireWritable(key, caller)
      if (value === undefined && found.option.secret) return
      if (await change(parts, found, parse(found, value), caller)) await announce()
    },
    async reset(key, caller) {
      if (await change(parts, requireWritable(key, caller), defaults[key], caller)) await announce()
    },
    close() {
      unsubscribe()
      snapshot.close()
    },
  }
}

function requireWritable(key: string, caller: Caller): FoundOption {
  const found = findOption(key) ?? fail('option_unknown', { key })
  if (found.writer === 'root' && !isRoot(caller.role)) fail('option_forbidden')
  return found
}

function parse({ key, option }: FoundOption, text: string | undefined): unknown {
  if (text === undefined) return fail('option_invalid', { key, reason: { zh: '缺少值', en: 'has no value' } })
  const decoded = decodeOption(option, text)
  if (!('reason' in decoded)) return decoded.value
  if (decoded.badJson) return fail('json_text_invalid', { field: option.label })
  return fail('option_invalid', { key, reason: decoded.reason })
}

/** Writes one value with its audit row, in one transaction that other writers of options wait for. Answers whether it is a new one. */
function change(parts: Parts, found: FoundOption, value: unknown, caller: Caller): Promise<boolean> {
  const { database, db, secrets } = parts
  const { key, option } = found

  return db.transaction().execute(async (within) => {
    if (database.dialect === 'postgres') await sql`lock table options in share row exclusive mode`.execute(within)
    const { values, faults } = await readOptions(within, secrets)
    const [before, after] = [encodeOption(option, values[key]), encodeOption(option, value)]
    if (before === after && !faults.has(key)) return false

    // The value has passed the schema of its key.
    requireConsistent({ ...values, [key]: value } as OptionValues, key)
    await writeOption(within, secrets, found, value)
    const shown = (text: string) =>
      option.secret && text !== '' ? `mac ${secrets.mac(`option ${key}`, text).slice(0, 16)}` : text
    const entry = { caller, action: 'option.save', target: `option:${key}`, before: shown(before), after: shown(after) }
    await recordAudit(parts, within, entry)
    return true
  })
}
