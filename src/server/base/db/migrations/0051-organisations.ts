import { type Kysely, sql } from 'kysely'
import { addIndex, columnsOf, type Dialect } from '../columns.ts'

/** Organisations, their members, teams, invitations and allowances; and the member and team of a token, with what they were before. */
export async function organisations(db: Kysely<unknown>, dialect: Dialect): Promise<void> {
  const { id, integer, text, required, zero, empty, value } = columnsOf(dialect)
  await db.schema
    .createTable('organisations')
    .addColumn('id', integer, (column) => column.primaryKey().notNull())
    .addColumn('founded_by', integer, required)
    .addColumn('transfer_to', integer, zero)
    .addColumn('transfer_by', integer, zero)
    .execute()

  await id(db.schema.createTable('organisation_members'))
    .addColumn('organisation_id', integer, required)
    .addColumn('user_id', integer, required)
    .addColumn('role', text, required)
    .addColumn('invited_by', integer, zero)
    .addColumn('created_at', integer, required)
    .addColumn('left_at', integer)
    .execute()
  await sql`create unique index organisation_members_current on organisation_members (organisation_id, user_id) where left_at is null`.execute(
    db,
  )
  await addIndex(db, 'organisation_members', ['user_id'])

  await id(db.schema.createTable('organisation_teams'))
    .addColumn('organisation_id', integer, required)
    .addColumn('parent_id', integer, zero)
    .addColumn('name', text, required)
    .addColumn('created_at', integer, required)
    .addColumn('closed_at', integer)
    .execute()
  await addIndex(db, 'organisation_teams', ['organisation_id'])
  await addIndex(db, 'organisation_teams', ['parent_id'])

  await db.schema
    .createTable('organisation_team_members')
    .addColumn('team_id', integer, required)
    .addColumn('member_id', integer, required)
    .addColumn('is_manager', integer, zero)
    .addPrimaryKeyConstraint('organisation_team_members_key', ['team_id', 'member_id'])
    .execute()
  await addIndex(db, 'organisation_team_members', ['member_id'])

  await id(db.schema.createTable('organisation_invitations'))
    .addColumn('organisation_id', integer, required)
    .addColumn('email', text, empty)
    .addColumn('role', text, required)
    .addColumn('team_id', integer, zero)
    .addColumn('token_hash', text, required)
    .addColumn('invited_by', integer, required)
    .addColumn('created_at', integer, required)
    .addColumn('expires_at', integer, required)
    .addColumn('answer', text, empty)
    .addColumn('answered_by', integer, zero)
    .addColumn('answered_at', integer, zero)
    .execute()
  await addIndex(db, 'organisation_invitations', ['organisation_id'])
  await addIndex(db, 'organisation_invitations', ['token_hash'], true)

  await db.schema
    .createTable('organisation_allowances')
    .addColumn('scope', text, required)
    .addColumn('subject_id', integer, required)
    .addColumn('organisation_id', integer, required)
    .addColumn('models', text, empty)
    .addColumn('groups', text, empty)
    .addColumn('tokens_max', integer, value(-1))
    .addColumn('days_max', integer, zero)
    .addColumn('is_strict', integer, zero)
    .addPrimaryKeyConstraint('organisation_allowances_key', ['scope', 'subject_id'])
    .execute()
  await addIndex(db, 'organisation_allowances', ['organisation_id'])

  for (const column of ['member_id', 'team_id']) await db.schema.alterTable('tokens').addColumn(column, integer, zero).execute()
  await db.schema
    .createTable('token_places')
    .addColumn('token_id', integer, required)
    .addColumn('since', integer, required)
    .addColumn('member_id', integer, required)
    .addColumn('team_id', integer, required)
    .addPrimaryKeyConstraint('token_places_key', ['token_id', 'since'])
    .execute()
}
