import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { cheapPasswords, freshCore } from '../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { changedOriginal, importFile, type Original, originalFile, originals } from '../../../../test/helpers/family-database.ts'
import { sampled } from '../../../../test/helpers/torture.ts'
import { openBackup, restoreBackup, writeBackup } from '../../base/db/backup.ts'
import { reconcile } from '../../money/ledger/reconcile.ts'
import { verifyCharges } from '../../money/ledger/verify-charges.ts'
import { createRoot } from '../../people/accounts/create-root.ts'
import { keyPlace } from '../../people/tokens/tokens.ts'
import { rollUpHours } from '../../usage/sums/roll-up.ts'
import type { TableReport } from './report.ts'
import type { ImportOrder } from './run.ts'

type Core = Awaited<ReturnType<typeof freshCore>>['core']

eachDatabase('an import', (fresh, kind) => {
  const empty = async () => {
    const { core, close } = await freshCore(fresh)
    onTestFinished(close)
    return core
  }
  const started = async () => {
    const core = await empty()
    await createRoot({ ...core, passwords: cheapPasswords() })
    return core
  }

  const sources = sampled(Object.keys(originals) as Original[], kind === 'sqlite' ? 1 : 3, 2)
  it.each(sources)('imports %s exactly to the unit, and a second run changes nothing', async (original) => {
    const core = await started()
    const first = await importFile(core, originalFile(original), originals[original].family)
    expect(refusedIn(first.tables)).toEqual([])
    expect(first.balances).toMatchObject({ before: '100000000', takenBack: '100000000', agree: true })
    expect(first.balances.after).toBe(first.balances.source)
    expect(await verifyCharges(core.db)).toMatchObject({ rows: 0, imported: first.tables.logs?.taken, differing: 0 })
    expect(await reconcileOf(core)).toEqual([])

    const before = await rowsOf(core)
    const second = await importFile(core, originalFile(original), originals[original].family)
    expect(Object.values(second.tables).map(({ taken }) => taken)).toEqual(Object.values(second.tables).map(() => 0))
    expect(await rowsOf(core)).toEqual(before)
  })

  it('a dry run reports the same as a run and writes nothing', async () => {
    const core = await started()
    const before = await rowsOf(core)
    const dry = await importFile(core, originalFile('new-api-0.4'), 'new-api', { dryRun: true })
    expect(await rowsOf(core)).toEqual(before)
    const real = await importFile(core, originalFile('new-api-0.4'))
    expect({ ...dry, dryRun: false }).toEqual(real)
  })

  it('credits each user with one opening row, keeps ids, and reveals keys only to their owners', async () => {
    const core = await started()
    await importFile(core, originalFile('new-api-0.4'))
    const opened = await core.db
      .selectFrom('ledger')
      .select(['reference', 'amount', 'user_id'])
      .where('reference', 'like', 'import:user:%')
      .orderBy('user_id')
      .execute()
    expect(opened.map(({ reference }) => reference)).toEqual(Array.from({ length: 13 }, (_, index) => `import:user:${index + 1}`))
    const token = await core.db.selectFrom('tokens').selectAll().where('id', '=', 1).executeTakeFirstOrThrow()
    expect(core.secrets.open(token.key_sealed, keyPlace(1))).toBe('WtjCEVhSjCcC6PUvoxV824Rb7ILQolb87wAK3FqDL3duWIbg')
    expect(token).toMatchObject({ remain_quota: -20178, used_quota: 20178, unlimited_quota: 1, user_id: 1 })
    const made = await core.db
      .insertInto('channels')
      .values({ type: 1, key_sealed: '', name: 'new', created_time: 0 })
      .returning('id')
      .executeTakeFirstOrThrow()
    expect(made.id).toBe(18)
  })

  it('reports invalid values of the source, and imports or refuses each row separately', async () => {
    const file = changedOriginal('new-api-0.4', [
      `update users set quota = -5, email = 'Same@Example.com', github_id = '12345' where id = 2`,
      `update users set email = 'same@example.com', setting = '{broken' where id = 3`,
      `update users set username = 'USER0', display_name = null where id = 4`,
      `update users set quota = 9223372036854775807 where id = 5`,
      'drop index idx_users_aff_code',
      `update users set aff_code = 'EPS6', inviter_id = 99, role = 7, status = 9 where id = 6`,
      `update users set deleted_at = '2026-01-02 03:04:05.123456+08:00', access_token = 'abcdefabcdefabcdefabcdefabcdefab' where id = 7`,
      `update tokens set expired_time = 0, user_id = 2 where id = 2`,
      `update tokens set user_id = 4 where id = 3`,
      `update tokens set key = 'with space' where id = 4`,
      `update tokens set allow_ips = 'nonsense' where id = 5`,
      `update channels set model_mapping = '{broken' where id = 2`,
      `update channels set type = 51 where id = 3`,
      `update channels set type = 58 where id = 4`,
      `update channels set models = '' where id = 5`,
      `update channels set key = '' where id = 6`,
      `update channels set setting = 'not json' where id = 7`,
      `update redemptions set status = 9 where id = 1`,
      `update redemptions set quota = -1 where id = 2`,
      `insert into options values ('ModelRatioX', '1'), ('CompletionRatio', 'bad'), ('Notice', null), ('GitHubOAuthEnabled', 'true')`,
    ])
    const core = await empty()
    const { tables, balances } = await importFile(core, file)
    const said = (table: string) =>
      (tables[table]?.findings ?? []).map(({ kind, what, ids }) => `${kind} ${what}: ${ids.map(({ id }) => id)}`)

    expect(said('users')).toEqual(
      expect.arrayContaining([
        'noted the balance is below zero: 2',
        'changed the GitHub account is a login name, not an id: the user has to link it again: 2',
        'changed another user has this e-mail address: it was left out: 3',
        'changed the settings are not valid JSON: they were left out: 3',
        'refused the name already exists, ignoring case: 4',
        'refused quota is not an exact integer: 9223372036854775807: 5',
        'changed another user has this invitation code: a new one was made: 6',
        'changed the inviter was not imported: 6',
        'changed unknown role: imported as an ordinary user: 6',
        'changed unknown status: the user is banned: 6',
      ]),
    )
    expect(said('tokens')).toEqual(
      expect.arrayContaining([
        'noted the expiry is 0: the token stays expired until its owner sets another time: 2',
        'refused its user was not imported: 3',
        'refused the key is empty or has characters that a request cannot send: 4',
        'noted an entry of the address list is not an address: the token cannot be used: 5',
      ]),
    )
    expect(said('channels').join('\n')).toMatch(/model_mapping.*: 2/)
    expect(said('channels')).toEqual(
      expect.arrayContaining([
        'changed the channel is disabled: type 51 of new-api is not known for certain: 3',
        'changed the channel is disabled: type 58 of new-api is not known for certain: 4',
        'noted the channel has no models: 5',
        'changed the channel is disabled: it has no enabled key: 6',
        'noted setting is not a JSON object: 7',
      ]),
    )
    expect(said('redemptions')).toHaveLength(2)
    expect(said('options')).toEqual(
      expect.arrayContaining([
        'refused this option does not exist: ModelRatioX',
        'refused the value is not valid: is not a valid JSON string: CompletionRatio',
        'refused it depends on another option that is not set: GitHubOAuthEnabled',
      ]),
    )
    expect(balances.agree).toBe(true)
    expect(await reconcileOf(core)).toEqual([])

    const users = await core.db.selectFrom('users').selectAll().orderBy('id').execute()
    expect(users.find(({ id }) => id === 2)).toMatchObject({ quota: -5, email: 'same@example.com', github_id: '' })
    expect(users.find(({ id }) => id === 7)?.deleted_at).toBe(Date.parse('2026-01-01T19:04:05Z') / 1000)
    expect(await core.db.selectFrom('tokens').select('expired_time').where('id', '=', 2).executeTakeFirst()).toEqual({
      expired_time: 0,
    })
    const channels = await core.db.selectFrom('channels').selectAll().orderBy('id').execute()
    expect(channels.filter(({ status }) => status === 2).map(({ id }) => id)).toEqual([2, 3, 4, 6, 7])
    expect(JSON.parse(channels[2]?.other_info ?? '')).toMatchObject({ imported_type: 51 })
    expect(channels[1]?.model_mapping).toBe('{broken')
  })

  it('reads a row whose id is beyond the safe range of numbers only once', async () => {
    const core = await started()
    const twice =
      'insert into logs (id, user_id, created_at, type, quota) select 9007199254740992 + column1, 1, 1, 3, 0 from (values (0), (1))'
    const { tables } = await importFile(core, changedOriginal('new-api-0.4', [twice]))
    expect(tables.logs).toMatchObject({ read: 15 })
    expect((tables.logs?.taken ?? 0) + (tables.logs?.refused ?? 0)).toBe(15)
  })

  it('refuses users whose names already exist, or renames or skips them', async () => {
    const taken = async (intoExisting: ImportOrder['intoExisting']) => {
      const core = await started()
      await core.db
        .insertInto('users')
        .values({
          username: 'User1',
          username_key: 'user1',
          display_name: '',
          password_hash: '',
          aff_code: 'here',
          created_time: 0,
        })
        .execute()
      const report = await importFile(core, originalFile('new-api-0.4'), 'new-api', { intoExisting })
      const names = (await core.db.selectFrom('users').select('username').orderBy('id').execute()).map(({ username }) => username)
      return { users: report.tables.users, tokens: report.tables.tokens, names }
    }
    const refused = await taken('refuse')
    // The site is in use, so the super admin of the source is imported as any other user.
    expect(refused.users).toMatchObject({ taken: 11, refused: 2 })
    expect(refused.tokens).toMatchObject({ taken: 0, refused: 13 })
    expect(await taken('skip')).toMatchObject({ users: { taken: 11, skipped: 2 }, tokens: { refused: 13 } })
    const renamed = await taken('rename')
    expect(renamed.users).toMatchObject({ taken: 13, changed: 2 })
    expect(renamed.tokens).toMatchObject({ taken: 13 })
    expect(renamed.names).toEqual(expect.arrayContaining(['root-2', 'user1-2']))
  })

  it('imports the log once, with its hourly sums, including those of deleted rows', async () => {
    const file = changedOriginal('new-api-0.4', [
      `update quota_data set count = count + 2, quota = quota + 60, token_used = token_used + 60 where id = 1`,
      `insert into quota_data values (4, 1, 'root', 'm-old', 1790000000, 7, 1, 9), (5, 99, 'gone', 'm-old', 1790000000, 7, 1, 9)`,
      `insert into logs (id, user_id, created_at, type, content, quota) values (14, 1, 1795415050, 5, 'error', 3), (15, 99, 1795415050, 1, '', 0), (2199023255552, 1, 1795415050, 1, '', 0)`,
      `update logs set content = null, username = null where id = 2`,
      `insert into top_ups values (1, 1, 10, 73.5, 'T1', 1795415000, 'success'), (2, 1, 10, 73.5, 'T2', 1795415000, 'pending'), (3, 99, 1, 7, 'T3', 1, 'success')`,
      `insert into midjourneys (id, code, user_id, action, mj_id, status, channel_id, quota) values (1, 1, 1, 'IMAGINE', 'm1', 'SUCCESS', 1, 5), (2, 1, 1, 'IMAGINE', 'm2', 'IN_PROGRESS', 99, 5)`,
      `insert into tasks (id, created_at, updated_at, task_id, platform, user_id, channel_id, quota, action, status, properties, data) values (1, 5, 6, 't1', 'suno', 1, 1, 5, 'MUSIC', 'SUCCESS', '{"input":"x"}', '[]')`,
    ])
    const core = await empty()
    const recent = await importFile(core, file, 'new-api', { logsSince: 1795415051 })
    expect(recent.tables.logs).toMatchObject({ read: 0, taken: 0 })
    const all = await importFile(core, file)
    expect(all.tables.logs).toMatchObject({ read: 16, taken: 14, changed: 1, refused: 2 })
    expect(all.tables.logs?.findings.filter(({ kind }) => kind === 'refused')).toEqual([
      { kind: 'refused', what: 'its id is below 1 or too large', rows: 1, ids: [{ id: 2199023255552 }] },
      { kind: 'refused', what: 'its user was not imported', rows: 1, ids: [{ id: 15 }] },
    ])
    expect(all.tables.top_ups).toMatchObject({ same: 2, refused: 1 })
    expect(recent.tables.midjourneys).toMatchObject({ taken: 2 })

    const rows = await core.db.selectFrom('logs').selectAll().orderBy('created_at').orderBy('id').execute()
    expect([
      rows.length,
      rows.every(({ id }) => id < 0),
      rows.reduce((sum, { type, quota }) => sum + (type === 2 ? quota : 0), 0),
    ]).toEqual([14, true, 20178])
    const sums = await core.db.selectFrom('quota_data').selectAll().where('quota', '>', 0).execute()
    expect(sums.reduce((sum, { quota }) => sum + quota, 0)).toBe(20178 + 60 + 9)
    expect(
      sums
        .filter(({ channel_id }) => channel_id === 1)
        .map(({ quota }) => quota)
        .sort(),
    ).toEqual([150, 20000, 28])
    await rollUpHours(core)
    expect(await core.db.selectFrom('usage_hours').select('hour').where('side', '=', 'model').execute()).toHaveLength(2)

    expect(
      await core.db
        .selectFrom('top_ups')
        .select(['trade_no', 'status', 'quota', 'money_minor', 'provider'])
        .orderBy('id')
        .execute(),
    ).toEqual([
      { trade_no: 'T1', status: 'success', quota: 5_000_000, money_minor: 7350, provider: 'new-api' },
      { trade_no: 'T2', status: 'expired', quota: 5_000_000, money_minor: 7350, provider: 'new-api' },
    ])
    expect(await core.db.selectFrom('midjourneys').select(['channel_id', 'ask_at']).orderBy('id').execute()).toEqual([
      { channel_id: 1, ask_at: 0 },
      { channel_id: 0, ask_at: 0 },
    ])
    const before = await rowsOf(core)
    await importFile(core, file)
    expect(await rowsOf(core)).toEqual(before)
  })

  it('includes the imported log in a backup and its restore', async () => {
    const core = await empty()
    await importFile(core, originalFile('new-api-0.6'))
    const file = join(mkdtempSync(join(tmpdir(), 'sluice-')), 'backup.db')
    const said: string[] = []
    expect((await writeBackup(core.database, file, { onProgress: (text) => void said.push(text) })).rows.logs).toBe(300)
    expect(said).toEqual(expect.arrayContaining(['logs 300 of 300', 'checking the file']))
    const other = await empty()
    await other.db.deleteFrom('key_ring').execute()
    const backup = await openBackup(file)
    onTestFinished(() => backup.close())
    await restoreBackup(backup, other.database)
    const logs = (from: Core) => from.db.selectFrom('logs').selectAll().orderBy('id').execute()
    expect(await logs(other)).toEqual(await logs(core))
    const { id } = await other.db
      .insertInto('logs')
      .values({ user_id: 1, created_at: 1, type: 4 })
      .returning('id')
      .executeTakeFirstOrThrow()
    expect(id).toBe(1)
  })

  async function rowsOf(core: Core) {
    const rows: Record<string, unknown> = {}
    for (const { name } of await core.db.introspection.getTables())
      rows[name] = (
        await core.db
          .selectFrom(name as 'users')
          .selectAll()
          .execute()
      )
        .map((row) => JSON.stringify(row))
        .sort()
    return rows
  }

  async function reconcileOf(core: Core) {
    expect(core.database.dialect).toBe(kind)
    return reconcile(core)
  }
})

function refusedIn(tables: Readonly<Record<string, TableReport>>) {
  return Object.entries(tables).filter(([, table]) => table.refused + table.skipped > 0)
}
