import { type Kysely, sql } from 'kysely'

/** The switch for headers that decide on billing becomes a list of passed headers. */
export async function passedHeaders(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ id: number; setting: string }>`
    select id, setting from channels where setting like '%"pass_account_headers"%'`.execute(db)
  for (const { id, setting } of rows) {
    const { pass_account_headers: passes, ...rest } = JSON.parse(setting)
    const changed = passes === true ? { ...rest, passed_headers: all } : rest
    await sql`update channels set setting = ${JSON.stringify(changed)} where id = ${id}`.execute(db)
  }
}

const all = ['openai-organization', 'openai-project', 'session_id', 'x-codex-turn-state']
