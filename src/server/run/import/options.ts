import { decodeOption, encodeOption } from '../../../contract/options/codec.ts'
import { findOption, type OptionValues } from '../../../contract/options/index.ts'
import type { Within } from '../../base/db/open.ts'
import { AppError } from '../../base/lib/failure.ts'
import { requireConsistent } from '../../base/options/checks.ts'
import { readOptions, writeOption } from '../../base/options/rows.ts'
import type { Import } from './context.ts'
import { addFinding, type TableReport } from './report.ts'
import { SourceRow } from './source-row.ts'

/**
 * Imports options that are set in the source and not set here; options that are set here keep their values. An option that depends
 * on another one is retried after that one was imported.
 */
export async function takeOptions({ core, source }: Import, within: Within, table: TableReport): Promise<void> {
  const { values: before } = await readOptions(within, core.secrets)
  const here = new Set((await within.selectFrom('options').select('key').execute()).map(({ key }) => key))
  const values: Record<string, unknown> = { ...before }
  let waiting: { readonly key: string; readonly value: string }[] = []
  for (const given of await source.all('options')) {
    const row = new SourceRow(given)
    table.read++
    waiting.push({ key: row.text('key'), value: row.text('value') })
  }

  for (let progress = true; progress && waiting.length > 0; ) {
    const left: typeof waiting = []
    for (const entry of waiting) {
      const outcome = await takeOption(entry)
      if (outcome === 'later') left.push(entry)
    }
    progress = left.length < waiting.length
    waiting = left
  }
  for (const { key } of waiting) refuse(key, 'it depends on another option that is not set')

  async function takeOption({ key, value }: { key: string; value: string }): Promise<'done' | 'later'> {
    const found = findOption(key)
    if (!found) return refuse(key, 'this option does not exist')
    const decoded = decodeOption(found.option, value)
    if ('reason' in decoded) return refuse(key, `the value is not valid: ${decoded.reason.en}`)
    if (here.has(key)) {
      const isSame = encodeOption(found.option, values[key]) === encodeOption(found.option, decoded.value)
      if (!isSame) return refuse(key, 'it already has another value, which is kept')
      table.same++
      return 'done'
    }
    const after = { ...values, [key]: decoded.value }
    try {
      // Each value was checked against the schema of its key.
      requireConsistent(after as OptionValues, found.key)
    } catch (error) {
      if (error instanceof AppError) return 'later'
      throw error
    }
    await writeOption(within, core.secrets, found, decoded.value)
    values[key] = decoded.value
    here.add(key)
    table.taken++
    return 'done'
  }

  function refuse(key: string, what: string): 'done' {
    table.refused++
    addFinding(table, 'refused', { what }, key)
    return 'done'
  }
}
