import { type Kysely, sql } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Second factors, passkeys, accounts at OpenID providers, and the state of a login of several steps. */
export async function loginMethods(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { id, integer, text, required, zero, empty } = columnsOf(dialect)
  await db.schema.alterTable('users').addColumn('oidc_id', text, empty).execute()
  await sql`create unique index users_oidc_id on users (oidc_id) where oidc_id <> ''`.execute(db)

  await db.schema
    .createTable('login_steps')
    .addColumn('key', text, (column) => column.primaryKey().notNull())
    .addColumn('bound_to', text, required)
    .addColumn('user_id', integer, required)
    .addColumn('detail_sealed', text, required)
    .addColumn('expires_at', integer, required)
    .addColumn('guesses', integer, zero)
    .execute()
  await addIndex(db, 'login_steps', ['user_id'])

  await db.schema
    .createTable('two_factor')
    .addColumn('user_id', integer, (column) => column.primaryKey().notNull())
    .addColumn('secret_sealed', text, required)
    .addColumn('confirmed_at', integer, zero)
    .addColumn('last_step', integer, zero)
    .execute()

  await db.schema
    .createTable('backup_codes')
    .addColumn('user_id', integer, required)
    .addColumn('code_mac', text, required)
    .addPrimaryKeyConstraint('backup_codes_key', ['user_id', 'code_mac'] as never)
    .execute()

  await id(db.schema.createTable('passkeys'))
    .addColumn('user_id', integer, required)
    .addColumn('credential_id', text, required)
    .addColumn('public_key', text, required)
    .addColumn('counter', integer, zero)
    .addColumn('transports', text, empty)
    .addColumn('name', text, required)
    .addColumn('created_at', integer, required)
    .addColumn('used_at', integer, zero)
    .execute()
  await addIndex(db, 'passkeys', ['credential_id'], true)
  await addIndex(db, 'passkeys', ['user_id'])
}
