import { copyFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqlite } from '../../src/server/base/db/sqlite-file.ts'
import type { Core } from '../../src/server/base/options/core.ts'
import { families } from '../../src/server/run/import/families.ts'
import { openSource } from '../../src/server/run/import/open-source.ts'
import { type ImportOrder, runImport } from '../../src/server/run/import/run.ts'

/** Databases that were created by the original programs. */
export const originals = {
  'new-api-0.4': { family: 'new-api', file: 'new-api-0.4.8.9.6.db', rootPassword: '123456' },
  'new-api-0.6': { family: 'new-api', file: 'new-api-0.6.3.1.db', rootPassword: '12345678' },
  'one-api-0.6': { family: 'one-api', file: 'one-api-0.6.db', rootPassword: '123456' },
} as const
export type Original = keyof typeof originals

export function originalFile(original: Original): string {
  return fileURLToPath(new URL(`../fixtures/import/${originals[original].file}`, import.meta.url))
}

/** A copy of an original in which statements were run. */
export function changedOriginal(original: Original, statements: readonly string[]): string {
  const file = join(mkdtempSync(join(tmpdir(), 'sluice-')), 'one-api.db')
  copyFileSync(originalFile(original), file)
  const database = openSqlite(file)
  for (const statement of statements) database.exec(statement)
  database.exec('pragma journal_mode = delete')
  database.close()
  return file
}

/** The statement that adds charges to the log of an original, each of 3 quota units and one second apart. */
export function logRows(count: number): string {
  return `
    with recursive n(i) as (select 100 union all select i + 1 from n where i < ${count + 99})
    insert into logs (id, user_id, created_at, type, content, username, token_name, model_name, quota, prompt_tokens, completion_tokens,
      channel_id, token_id, "group", other)
    select i, 1, 1795415042 + i, 2, '', 'root', 't', 'm', 3, 1, 2, 1, 1, 'default', '{}' from n`
}

/** Imports a file as the command does. */
export async function importFile(
  core: Core,
  file: string,
  family: keyof typeof families = 'new-api',
  more: Partial<ImportOrder> = {},
) {
  const source = await openSource(file)
  try {
    return await runImport(core, { family: families[family], source, intoExisting: 'refuse', dryRun: false, ...more })
  } finally {
    await source.close()
  }
}
