import { type Kysely, sql } from 'kysely'
import type { Dialect } from '../columns.ts'

const identities = ['password_hash', 'email', 'github_id', 'wechat_id', 'telegram_id', 'linux_do_id', 'oidc_id']

/** What only a person has: rows about logging in. */
const loginTables = ['sessions', 'two_factor', 'backup_codes', 'passkeys', 'login_steps', 'mailed_codes']

/** Accounts of organisations, which nothing can make into a login. */
export async function accountKinds(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const without = identities.map((column) => `${column} = ''`).join(' and ')
  const isKeyless = `${without} and access_token_hash is null and role = 1 and must_change_password = 0 and substr(username_key, 1, 1) = '@'`
  await sql`alter table users add column kind text not null default 'person' constraint users_kind check (kind = 'person' or (kind = 'organisation' and ${sql.raw(isKeyless)}))`.execute(
    db,
  )
  const refuse = dialect === 'sqlite' ? refuseOnSqlite : await refusalOnPostgres(db)
  for (const table of loginTables) await refuse(db, table)
  await fixKind(db, dialect)
}

const message = 'an organisation has no login'

async function refuseOnSqlite(db: Kysely<unknown>, table: string): Promise<void> {
  for (const act of ['insert', 'update']) {
    await sql`create trigger ${sql.raw(`${table}_of_person_${act}`)} before ${sql.raw(act)} on ${sql.table(table)} when exists (select 1 from users where id = new.user_id and kind <> 'person') begin select raise(abort, ${sql.lit(message)}); end`.execute(
      db,
    )
  }
}

async function refusalOnPostgres(db: Kysely<unknown>) {
  const body = `begin if exists (select 1 from users where id = new.user_id and kind <> 'person') then raise exception '${message}'; end if; return new; end`
  await sql`create function require_person() returns trigger language plpgsql as ${sql.lit(body)}`.execute(db)
  return async (within: Kysely<unknown>, table: string) => {
    await sql`create trigger ${sql.raw(`${table}_of_person`)} before insert or update on ${sql.table(table)} for each row execute function require_person()`.execute(
      within,
    )
  }
}

/** The kind of an account is for ever: a person with sessions must not become an organisation. */
async function fixKind(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const told = 'the kind of an account is fixed'
  if (dialect === 'sqlite') {
    await sql`create trigger users_kind_fixed before update of kind on users when new.kind <> old.kind begin select raise(abort, ${sql.lit(told)}); end`.execute(
      db,
    )
    return
  }
  await sql`create function fix_account_kind() returns trigger language plpgsql as ${sql.lit(`begin raise exception '${told}'; end`)}`.execute(
    db,
  )
  await sql`create trigger users_kind_fixed before update of kind on users for each row when (new.kind <> old.kind) execute function fix_account_kind()`.execute(
    db,
  )
}
