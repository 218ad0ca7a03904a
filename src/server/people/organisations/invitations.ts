import { type Invitation, type InvitationInput, invitationShown } from '../../../contract/entities/organisation.ts'
import type { OrganisationRole } from '../../../contract/organisation-roles.ts'
import type { Language } from '../../../contract/text.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import { newSecret } from '../../base/lib/secrets/ids.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { canonicalEmail } from '../accounts/email-address.ts'
import { accountKind } from '../accounts/users.ts'
import type { Mailer } from '../notify/mailer.ts'
import { writeMail } from '../notify/mails.ts'
import { lockOrganisation, type Membership } from './membership.ts'
import { findTeam } from './teams.ts'

/**
 * Invitations: a secret link, mailed or passed on, that one signed-in user can accept until it expires. Only the hash of the secret is
 * stored, so that it is shown once.
 */
type Mailing = Core & { readonly mailer: Mailer }

const daySeconds = 86_400
const openMax = 500

interface Sent {
  readonly invitation: Invitation
  readonly secret: string
  readonly mailed: boolean
}

/** The invitations of an organisation, newest first. */
export async function listInvitations(core: Core, { payer }: Membership): Promise<Invitation[]> {
  const rows = await invitationsIn(core.db)
    .where('organisation_invitations.organisation_id', '=', payer.id)
    .orderBy('organisation_invitations.id', 'desc')
    .limit(openMax)
    .execute()
  return rows.map((row) => presented(core, row))
}

/**
 * Invites somebody. Only owners invite owners. With an address it is mailed, where the site can send mail. Throws `email_invalid`,
 * `organisation_role`, `not_found` for the team, `invitations_too_many`.
 */
export async function invite(
  core: Mailing,
  caller: Caller,
  { membership, input, language }: { membership: Membership; input: InvitationInput; language: Language },
): Promise<Sent> {
  const { payer, role } = membership
  const email = input.email === '' ? '' : (canonicalEmail(input.email) ?? fail('email_invalid'))
  if (input.role === 'owner' && role !== 'owner' && role !== 'operator') fail('organisation_role')
  const secret = newSecret()
  const id = await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    await requireFew(core, within, payer.id)
    if (input.team_id !== 0) await findTeam(within, payer.id, input.team_id)
    const now = seconds(core.now())
    const values = { organisation_id: payer.id, email, role: input.role, team_id: input.team_id, invited_by: caller.id }
    const dates = { created_at: now, expires_at: now + input.days * daySeconds }
    const made = await within
      .insertInto('organisation_invitations')
      .values({ ...values, ...dates, token_hash: sha256(secret) })
      .returning('id')
      .executeTakeFirstOrThrow()
    audit({ action: 'organisation.invite', target: `organisation:${payer.id}`, after: { email, role: input.role } })
    return made.id
  })
  return { ...(await sent(core, { id, secret, caller, language })), secret }
}

/** Makes a new secret, so that an older link ends, and mails it again. Throws `not_found` unless the invitation is open. */
export async function resendInvitation(
  core: Mailing,
  caller: Caller,
  { membership, id, language }: { membership: Membership; id: number; language: Language },
): Promise<Sent> {
  const secret = newSecret()
  const now = seconds(core.now())
  const renewed = await core.db
    .updateTable('organisation_invitations')
    .set((row) => ({
      token_hash: sha256(secret),
      created_at: now,
      expires_at: row('expires_at', '+', row(row.val(now), '-', row.ref('created_at'))),
    }))
    .where('id', '=', id)
    .where('organisation_id', '=', membership.payer.id)
    .where('answer', '=', '')
    .returning('id')
    .executeTakeFirst()
  if (!renewed) fail('not_found')
  return { ...(await sent(core, { id, secret, caller, language })), secret }
}

/** Throws `not_found` unless the invitation is open. */
export async function withdrawInvitation(
  core: Core,
  caller: Caller,
  { membership, id }: { membership: Membership; id: number },
): Promise<void> {
  const organisationId = membership.payer.id
  await change(core, caller, async (within, audit) => {
    const withdrawn = await within
      .updateTable('organisation_invitations')
      .set({ answer: 'withdrawn', answered_by: caller.id, answered_at: seconds(core.now()) })
      .where('id', '=', id)
      .where('organisation_id', '=', organisationId)
      .where('answer', '=', '')
      .returning(['email', 'role'])
      .executeTakeFirst()
    audit({ action: 'organisation.withdraw', target: `organisation:${organisationId}`, before: withdrawn ?? fail('not_found') })
  })
}

/** What the holder of the link sees. Throws `invitation_invalid`. */
export async function showInvitation(core: Core, secret: string) {
  const row = await invitationsIn(core.db)
    .innerJoin('users as payer', 'payer.id', 'organisation_invitations.organisation_id')
    .select(['payer.id as organisation_id', 'payer.display_name as organisation'])
    .where('organisation_invitations.token_hash', '=', sha256(secret))
    .where('payer.deleted_at', 'is', null)
    .where('payer.kind', '=', accountKind.organisation)
    .executeTakeFirst()
  const found = row ?? fail('invitation_invalid')
  return invitationShown.parse({
    ...presented(core, found),
    organisation_id: found.organisation_id,
    organisation: found.organisation,
  })
}

/**
 * The caller joins, or declines. One statement takes the invitation, so that it is answered once. Returns the id of the organisation.
 * Throws `invitation_invalid`, `organisation_member_already`.
 */
export async function answerInvitation(
  core: Core,
  caller: Caller,
  { secret, accepts }: { secret: string; accepts: boolean },
): Promise<number> {
  const now = seconds(core.now())
  return change(core, caller, async (within, audit) => {
    const taken = await within
      .updateTable('organisation_invitations')
      .set({ answer: accepts ? 'accepted' : 'declined', answered_by: caller.id, answered_at: now })
      .where('token_hash', '=', sha256(secret))
      .where('answer', '=', '')
      .where('expires_at', '>', now)
      .where('organisation_id', 'in', (row) => row.selectFrom('users').select('id').where('deleted_at', 'is', null))
      .returningAll()
      .executeTakeFirst()
    const { organisation_id, role, team_id, invited_by } = taken ?? fail('invitation_invalid')
    const target = `organisation:${organisation_id}`
    if (!accepts) {
      audit({ action: 'organisation.decline', target, after: { user: caller.id } })
      return organisation_id
    }
    await join(core, within, { organisation_id, user_id: caller.id, role, invited_by, created_at: now }, team_id)
    audit({ action: 'organisation.join', target, after: { user: caller.id, role }, topic: 'user', id: organisation_id })
    return organisation_id
  })
}

type NewMember = { organisation_id: number; user_id: number; role: string; invited_by: number; created_at: number }

async function join(core: Core, within: Within, member: NewMember, team_id: number): Promise<void> {
  await lockOrganisation(core, within, member.organisation_id)
  const made = await within
    .insertInto('organisation_members')
    .values(member)
    .onConflict((conflict) => conflict.columns(['organisation_id', 'user_id']).where('left_at', 'is', null).doNothing())
    .returning('id')
    .executeTakeFirst()
  const { id: member_id } = made ?? fail('organisation_member_already')
  // A team that was closed since is no reason to refuse a member.
  const team = await within
    .selectFrom('organisation_teams')
    .select('id')
    .where('id', '=', team_id)
    .where('closed_at', 'is', null)
    .executeTakeFirst()
  if (team) await within.insertInto('organisation_team_members').values({ team_id, member_id }).execute()
}

async function sent(
  core: Mailing,
  { id, secret, caller, language }: { id: number; secret: string; caller: Caller; language: Language },
): Promise<Omit<Sent, 'secret'>> {
  const row = await invitationsIn(core.db)
    .innerJoin('users as payer', 'payer.id', 'organisation_invitations.organisation_id')
    .select('payer.display_name as organisation')
    .where('organisation_invitations.id', '=', id)
    .executeTakeFirstOrThrow()
  const { SystemName: site, ServerAddress } = core.options.current
  const mailed = row.email !== '' && core.mailer.isConfigured
  if (mailed) {
    const params = {
      site,
      inviter: caller.username,
      organisation: row.organisation,
      days: Math.ceil((row.expires_at - row.created_at) / daySeconds),
    }
    const link = ServerAddress === '' ? {} : { link: `${ServerAddress}/invitation?token=${secret}` }
    core.mailer.sendLater(writeMail('invitation', { to: row.email, language, params, ...link }))
  }
  return { invitation: presented(core, row), mailed }
}

async function requireFew(core: Core, within: Within, organisationId: number): Promise<void> {
  const { count } = await within
    .selectFrom('organisation_invitations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organisation_id', '=', organisationId)
    .where('answer', '=', '')
    .where('expires_at', '>', seconds(core.now()))
    .executeTakeFirstOrThrow()
  if (Number(count) >= openMax) fail('invitations_too_many', { max: openMax })
}

function invitationsIn(db: Queries) {
  return db
    .selectFrom('organisation_invitations')
    .leftJoin('users as inviter', 'inviter.id', 'organisation_invitations.invited_by')
    .leftJoin('organisation_teams', 'organisation_teams.id', 'organisation_invitations.team_id')
    .select(['organisation_invitations.id', 'organisation_invitations.email', 'organisation_invitations.role'])
    .select(['organisation_invitations.team_id', 'organisation_invitations.created_at', 'organisation_invitations.expires_at'])
    .select(['organisation_invitations.answer', 'inviter.username as inviter', 'organisation_teams.name as team_name'])
}

type Found = Awaited<ReturnType<ReturnType<typeof invitationsIn>['executeTakeFirstOrThrow']>>

function presented({ now }: Core, { inviter, team_name, role, ...row }: Found): Invitation {
  const isExpired = row.answer === '' && row.expires_at <= seconds(now())
  const { id, email, team_id, created_at, expires_at } = row
  // Only this folder writes roles.
  const shown = { id, email, team_id, created_at, expires_at, role: role as OrganisationRole }
  return { ...shown, team_name: team_name ?? '', invited_by: inviter ?? '', answer: isExpired ? 'expired' : row.answer }
}
