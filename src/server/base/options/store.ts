import { sql } from 'kysely'
import { checkOptions } from '../../../contract/options/check.ts'
import { decodeOption, encodeOption } from '../../../contract/options/codec.ts'
import { defaults } from '../../../contract/options/defaults.ts'
import { type FoundOption, findOption, type OptionValues } from '../../../contract/options/index.ts'
import { isRoot } from '../../../contract/roles.ts'
import { Snapshot } from '../lib/collections/snapshot.ts'
import { fail } from '../lib/failure.ts'
import { change } from './change.ts'
import { requireConsistent } from './checks.ts'
import type { Caller, Core, OptionChange, OptionStore } from './core.ts'
import { requireUnused } from './groups-in-use.ts'
import { requirePolicyHosts } from './policy-sources.ts'
import { readOptions, writeOption } from './rows.ts'

type Parts = { readonly env: Pick<Core['env'], 'BASE_PATH'> } & Pick<
  Core,
  'database' | 'db' | 'secrets' | 'bus' | 'logger' | 'now'
>

// Throws when the declarations contain a mistake. Runs once per process, however many stores it opens.
checkOptions()

/** Loads the options and keeps them up to date with the other nodes. */
export async function openOptions(parts: Parts): Promise<OptionStore> {
  let last = defaults
  const snapshot = new Snapshot(async () => {
    const { values, faults } = await readOptions(parts.db, parts.secrets, last)
    for (const [option, fault] of faults) parts.logger.error({ option, fault }, 'passed over a row of the options table')
    last = values
    return belowBasePath(values, parts.env.BASE_PATH)
  })
  await snapshot.refresh()
  const unsubscribe = parts.bus.on('options', () =>
    snapshot.follow((error) => parts.logger.error({ error }, 'the options are not read yet')),
  )

  return {
    get current() {
      return snapshot.current
    },
    async refresh() {
      await snapshot.refresh()
    },
    async save({ key, value, caller, confirmed }) {
      const found = requireWritable(key, caller)
      if (value === undefined && found.option.secret) return
      if (await writeEdits(parts, { caller, confirmed }, () => [[found, parse(found, value)]])) await snapshot.refresh()
    },
    async edit(caller, make) {
      const editsOf = (values: OptionValues) =>
        Object.entries(make(values)).map(([key, value]): Edit => {
          const found = requireWritable(key, caller)
          return [found, parse(found, value)]
        })
      if (await writeEdits(parts, { caller }, editsOf)) await snapshot.refresh()
    },
    async reset(key, caller) {
      const found = requireWritable(key, caller)
      if (await writeEdits(parts, { caller }, () => [[found, defaults[key]]])) await snapshot.refresh()
    },
    close() {
      unsubscribe()
      snapshot.close()
    },
  }
}

/** The addresses of this site, which links, callbacks and cookies are made of. One without the base path gets it. */
const siteAddresses = ['ServerAddress', 'CustomCallbackAddress'] as const

function belowBasePath(values: OptionValues, basePath: string): OptionValues {
  if (basePath === '') return values
  const below = siteAddresses.flatMap((key) => {
    const address = values[key]
    return address === '' || address.endsWith(basePath) ? [] : [[key, `${address}${basePath}`]]
  })
  return Object.freeze({ ...values, ...Object.fromEntries(below) })
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

/** An option and its new value, validated by the schema of its key. */
type Edit = readonly [FoundOption, unknown]

/**
 * Writes values computed from the current ones, each with its audit row, in one transaction, for which other writers of options
 * wait, and publishes them. Returns whether any value is new.
 */
function writeEdits(
  parts: Parts,
  { caller, confirmed }: Pick<OptionChange, 'caller' | 'confirmed'>,
  editsOf: (values: OptionValues) => readonly Edit[],
): Promise<boolean> {
  const { database, secrets } = parts

  return change(parts, caller, async (within, report) => {
    if (database.dialect === 'postgres') await sql`lock table options in share row exclusive mode`.execute(within)
    const { values, faults } = await readOptions(within, secrets)
    const edits = editsOf(values).filter(
      ([{ key, option }, value]) => faults.has(key) || encodeOption(option, values[key]) !== encodeOption(option, value),
    )
    // Each value has passed the schema of its key.
    const after = { ...values, ...Object.fromEntries(edits.map(([{ key }, value]) => [key, value])) } as OptionValues
    if (confirmed === false) await requireUnused(within, values, after)
    if (edits.length > 0) report({ topic: 'options' })
    for (const [found, value] of edits) {
      requireConsistent(after, found.key)
      requirePolicyHosts(after, found.key)
      await writeOption(within, secrets, found, value)
      const before = shown(secrets, found, values[found.key])
      report({ action: 'option.save', target: `option:${found.key}`, before, after: shown(secrets, found, value) })
    }
    return edits.length > 0
  })
}

/** The value for the audit log: for a secret a MAC, which only shows whether two values are the same. */
function shown(secrets: Parts['secrets'], { key, option }: FoundOption, value: unknown): string {
  const text = encodeOption(option, value)
  return option.secret && text !== '' ? `mac ${secrets.mac(`option ${key}`, text).slice(0, 16)}` : text
}
