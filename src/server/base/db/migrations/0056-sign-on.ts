import { type Kysely, sql } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** The directories of organisations: how their people sign in, who they are, and what their groups mean here. */
export async function signOn(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { id, integer, text, required, zero, empty } = columnsOf(dialect)
  await db.schema
    .createTable('organisation_sign_on')
    .addColumn('organisation_id', integer, (column) => column.primaryKey().notNull())
    .addColumn('issuer', text, empty)
    .addColumn('client_id', text, empty)
    .addColumn('secret_sealed', text, empty)
    .addColumn('group_claim', text, empty)
    .addColumn('is_enabled', integer, zero)
    .addColumn('creates_accounts', integer, zero)
    .addColumn('is_only_way', integer, zero)
    .addColumn('scim_hash', text)
    .addColumn('scim_created_at', integer, zero)
    .addColumn('scim_used_at', integer, zero)
    .execute()
  await addIndex(db, 'organisation_sign_on', ['scim_hash'], true)

  await db.schema
    .createTable('organisation_domains')
    .addColumn('organisation_id', integer, required)
    .addColumn('domain', text, required)
    .addColumn('created_at', integer, required)
    .addColumn('confirmed_at', integer, zero)
    .addPrimaryKeyConstraint('organisation_domains_key', ['organisation_id', 'domain'])
    .execute()
  await sql`create unique index organisation_domains_confirmed on organisation_domains (domain) where confirmed_at > 0`.execute(
    db,
  )

  await id(db.schema.createTable('directory_rules'))
    .addColumn('organisation_id', integer, required)
    .addColumn('directory_group', text, required)
    .addColumn('role', text, empty)
    .addColumn('team_id', integer, zero)
    .addColumn('is_manager', integer, zero)
    .execute()
  await addIndex(db, 'directory_rules', ['organisation_id'])

  await id(db.schema.createTable('directory_people'))
    .addColumn('organisation_id', integer, required)
    .addColumn('user_id', integer, required)
    .addColumn('subject', text, empty)
    .addColumn('user_name', text, empty)
    .addColumn('user_name_key', text, empty)
    .addColumn('external_id', text, empty)
    .addColumn('profile', text, empty)
    .addColumn('claimed_groups', text, empty)
    .addColumn('came_by_it', integer, zero)
    .addColumn('suspended_member', integer, zero)
    .addColumn('suspended_teams', text, empty)
    .addColumn('created_at', integer, required)
    .addColumn('updated_at', integer, required)
    .execute()
  await addIndex(db, 'directory_people', ['organisation_id', 'user_id'], true)
  await addIndex(db, 'directory_people', ['user_id'])
  await sql`create unique index directory_people_subject on directory_people (organisation_id, subject) where subject <> ''`.execute(
    db,
  )
  await sql`create unique index directory_people_name on directory_people (organisation_id, user_name_key) where user_name_key <> ''`.execute(
    db,
  )

  await id(db.schema.createTable('directory_groups'))
    .addColumn('organisation_id', integer, required)
    .addColumn('name', text, required)
    .addColumn('name_key', text, required)
    .addColumn('external_id', text, empty)
    .addColumn('created_at', integer, required)
    .addColumn('updated_at', integer, required)
    .execute()
  await addIndex(db, 'directory_groups', ['organisation_id', 'name_key'], true)
  await db.schema
    .createTable('directory_group_people')
    .addColumn('group_id', integer, required)
    .addColumn('person_id', integer, required)
    .addPrimaryKeyConstraint('directory_group_people_key', ['group_id', 'person_id'])
    .execute()
  await addIndex(db, 'directory_group_people', ['person_id'])

  for (const column of ['directory_role', 'hand_role'])
    await db.schema.alterTable('organisation_members').addColumn(column, text, empty).execute()
  await db.schema.alterTable('organisation_team_members').addColumn('by_directory', integer, zero).execute()
}
