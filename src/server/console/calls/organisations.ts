import type {
  DestinationChange,
  DestinationInput,
  OrganisationWebhookChange,
  OrganisationWebhookInput,
} from '../../../contract/entities/destination.ts'
import type { UsageSide } from '../../../contract/entities/organisation-usage.ts'
import { isAdmin } from '../../../contract/roles.ts'
import type { Handlers } from '../../../contract/route.ts'
import type { organisationRoutes } from '../../../contract/routes/organisations.ts'
import type { Language } from '../../../contract/text.ts'
import { oneBased } from '../../base/db/page.ts'
import { fail } from '../../base/lib/failure.ts'
import { listAuditOf } from '../../base/options/list-audit.ts'
import { changeBudget, createBudget, deleteBudget, overrideBudget } from '../../gateway/limits/manage-budgets.ts'
import {
  answerRaise,
  askForRaise,
  listOrganisationBudgets,
  listRaises,
  requireOwnSubject,
  tellOfRaise,
} from '../../gateway/limits/organisation-budgets.ts'
import { changeDestination, createDestination, deleteDestination, listDestinations } from '../../people/notify/destinations.ts'
import { testDestination } from '../../people/notify/send-deliveries.ts'
import { listAllowances, setAllowance } from '../../people/organisations/allowances.ts'
import {
  answerInvitation,
  invite,
  listInvitations,
  resendInvitation,
  showInvitation,
  withdrawInvitation,
} from '../../people/organisations/invitations.ts'
import { acceptTransfer, changeRole, listMembers, offerTransfer, removeMember } from '../../people/organisations/members.ts'
import { findMembership } from '../../people/organisations/membership.ts'
import {
  closeOrganisation,
  editOrganisation,
  findOrganisation,
  foundOrganisation,
  fundOrganisation,
  listOrganisations,
} from '../../people/organisations/organisations.ts'
import { closeTeam, createTeam, editTeam, listTeams, putInTeam, takeFromTeam } from '../../people/organisations/teams.ts'
import { organisationUsage, shortened, usageCsv } from '../../people/organisations/usage.ts'
import { type Context, requireCaller, requireOrganisation } from './context.ts'
import { runSearch } from './run-search.ts'

export const organisationHandlers: Handlers<typeof organisationRoutes, Context> = {
  async 'GET /api/organisation/'(context, { query: { p, page_size, all, keyword } }) {
    const caller = requireCaller(context)
    if (all && !isAdmin(caller.role)) fail('permission_denied')
    const listed = await listOrganisations(context.app, caller, { all, keyword, page: oneBased(p, page_size) })
    return { ...listed, page: p, page_size }
  },
  'POST /api/organisation/': (context, { body }) => foundOrganisation(context.app, requireCaller(context), body),
  'GET /api/organisation/:id': (context) => shown(context),
  async 'PUT /api/organisation/:id'(context, { params, body }) {
    await editOrganisation(context.app, requireCaller(context), requireOrganisation(context), { ...body, id: params.id })
    return shown(context)
  },
  async 'DELETE /api/organisation/:id'(context, { params }) {
    await closeOrganisation(context.app, requireCaller(context), params.id)
    return null
  },
  async 'POST /api/organisation/:id/quota'(context, { params, body }) {
    await fundOrganisation(context.app, requireCaller(context), { ...body, id: params.id })
    return shown(context)
  },

  async 'GET /api/organisation/:id/audit'(context, { query: { p, page_size } }) {
    const asked = { target: `organisation:${requireOrganisation(context).payer.id}`, page: oneBased(p, page_size) }
    return { ...(await listAuditOf(context.app, asked)), page: p, page_size }
  },
  async 'GET /api/organisation/:id/members'(context, { query: { p, page_size, keyword, team_id: team } }) {
    const asked = { keyword, team, page: oneBased(p, page_size) }
    return { ...(await listMembers(context.app.db, requireOrganisation(context), asked)), page: p, page_size }
  },
  async 'PUT /api/organisation/:id/members'(context, { body: { member_id: id, role } }) {
    await changeRole(context.app, requireCaller(context), { membership: requireOrganisation(context), id, role })
    return null
  },
  async 'DELETE /api/organisation/:id/members/:member'(context, { params: { member: id } }) {
    await removeMember(context.app, requireCaller(context), { membership: requireOrganisation(context), id })
    return null
  },
  async 'POST /api/organisation/:id/transfer'(context, { body: { member_id: id } }) {
    await offerTransfer(context.app, requireCaller(context), { membership: requireOrganisation(context), id })
    return null
  },
  async 'POST /api/organisation/:id/transfer/accept'(context) {
    await acceptTransfer(context.app, requireCaller(context), requireOrganisation(context))
    return shown(context)
  },

  'GET /api/organisation/:id/teams': (context) => teamsShown(context),
  async 'POST /api/organisation/:id/teams'(context, { body: { name, parent_id: parent } }) {
    await createTeam(context.app, requireCaller(context), { membership: requireOrganisation(context), name, parent })
    return teamsShown(context)
  },
  async 'PUT /api/organisation/:id/teams'(context, { body: { team_id: id, name, parent_id: parent } }) {
    await editTeam(context.app, requireCaller(context), { membership: requireOrganisation(context), id, name, parent })
    return teamsShown(context)
  },
  async 'DELETE /api/organisation/:id/teams/:team'(context, { params: { team: id } }) {
    await closeTeam(context.app, requireCaller(context), { membership: requireOrganisation(context), id })
    return teamsShown(context)
  },
  async 'PUT /api/organisation/:id/teams/members'(
    context,
    { body: { team_id: team, member_id: member, is_manager: isManager } },
  ) {
    const membership = requireOrganisation(context)
    await putInTeam(context.app, requireCaller(context), { membership, team, member, isManager })
    return null
  },
  async 'DELETE /api/organisation/:id/teams/:team/members/:member'(context, { params: { team, member } }) {
    await takeFromTeam(context.app, requireCaller(context), { membership: requireOrganisation(context), team, member })
    return null
  },

  'GET /api/organisation/:id/invitations': (context) => listInvitations(context.app, requireOrganisation(context)),
  async 'POST /api/organisation/:id/invitations'(context, { body: input }) {
    const asked = { membership: requireOrganisation(context), input, language: context.language }
    const { invitation, ...sent } = await invite(context.app, requireCaller(context), asked)
    return { ...invitation, ...sent }
  },
  async 'PUT /api/organisation/:id/invitations'(context, { body: { invitation_id: id } }) {
    const asked = { membership: requireOrganisation(context), id, language: context.language }
    const { invitation, ...sent } = await resendInvitation(context.app, requireCaller(context), asked)
    return { ...invitation, ...sent }
  },
  async 'DELETE /api/organisation/:id/invitations/:invitation'(context, { params: { invitation: id } }) {
    await withdrawInvitation(context.app, requireCaller(context), { membership: requireOrganisation(context), id })
    return null
  },
  'GET /api/organisation/:id/budgets': (context) =>
    listOrganisationBudgets(context.app, requireCaller(context), requireOrganisation(context)),
  async 'POST /api/organisation/:id/budgets'(context, { body }) {
    await requireOwnSubject(context.app.db, requireOrganisation(context), body)
    return createBudget(context.app, requireCaller(context), body)
  },
  async 'PUT /api/organisation/:id/budgets/:budget'(context, { params: { budget }, body }) {
    return changeBudget(context.app, requireCaller(context), { id: await ownBudget(context, budget), change: body })
  },
  async 'DELETE /api/organisation/:id/budgets/:budget'(context, { params: { budget } }) {
    await deleteBudget(context.app, requireCaller(context), await ownBudget(context, budget))
    return null
  },
  async 'POST /api/organisation/:id/budgets/:budget/override'(context, { params: { budget }, body }) {
    return overrideBudget(context.app, requireCaller(context), { ...body, id: await ownBudget(context, budget) })
  },
  async 'POST /api/organisation/:id/budgets/:budget/raise'(context, { params: { budget }, body }) {
    const raise = await askForRaise(context.app, askedBy(context), { ...body, budget })
    // The request is there, whether or not anybody can be told now.
    tellOfRaise(context.app, requireOrganisation(context), raise).catch((error: unknown) => {
      context.app.logger.warn({ error, raise: raise.id }, 'nobody could be told of a request for a greater budget')
    })
    return raise
  },
  'GET /api/organisation/:id/raises': (context) => listRaises(context.app, askedBy(context)),
  'POST /api/organisation/:id/raises/:raise': (context, { params: { raise: id }, body: { grant: grants } }) =>
    answerRaise(context.app, askedBy(context), { id, grants }),

  'GET /api/organisation/:id/usage': async (context, { query }) => shortened(await usageOf(context, query)),
  async *'GET /api/organisation/:id/usage.csv'(context, { query }) {
    yield usageCsv(await usageOf(context, query))
  },

  'GET /api/organisation/:id/webhooks': (context) => listDestinations(context.app, ownerOfWebhooks(context)),
  'POST /api/organisation/:id/webhooks'(context, { body }) {
    const { language } = context
    const input = webhookInput(body, language)
    return createDestination(context.app, { caller: requireCaller(context), input, owner: ownerOfWebhooks(context) })
  },
  'PUT /api/organisation/:id/webhooks/:webhook'(context, { params: { webhook: id }, body }) {
    const owner = ownerOfWebhooks(context)
    return changeDestination(context.app, { caller: requireCaller(context), id, change: webhookChange(body), owner })
  },
  async 'DELETE /api/organisation/:id/webhooks/:webhook'(context, { params: { webhook: id } }) {
    await deleteDestination(context.app, { caller: requireCaller(context), id, owner: ownerOfWebhooks(context) })
    return null
  },
  'POST /api/organisation/:id/webhooks/:webhook/test': (context, { params: { webhook: id } }) =>
    testDestination(context.app, id, ownerOfWebhooks(context)),

  'POST /api/invitation/': (context, { body }) => showInvitation(context.app, body.token),
  'POST /api/invitation/answer': (context, { body: { token: secret, accept: accepts } }) =>
    answerInvitation(context.app, requireCaller(context), { secret, accepts }),

  'GET /api/organisation/:id/allowances': (context) => listAllowances(context.app.db, requireOrganisation(context)),
  async 'PUT /api/organisation/:id/allowances'(context, { body }) {
    await setAllowance(context.app, requireCaller(context), requireOrganisation(context), body)
    return listAllowances(context.app.db, requireOrganisation(context))
  },
}

/** The organisation as it is after the call, with the role that the caller has then. */
async function shown(context: Context) {
  const { db } = context.app
  const { payer } = requireOrganisation(context)
  return findOrganisation(db, (await findMembership(db, requireCaller(context), payer.id)) ?? fail('not_found'))
}

function usageOf(context: Context, query: { from: number; to: number; by: UsageSide }) {
  const membership = requireOrganisation(context)
  const asked = { ...query, organisation: membership.payer.id }
  return runSearch(context, asked, (core) => organisationUsage(core, membership, query))
}

const ownerOfWebhooks = (context: Context) => requireOrganisation(context).payer.id

function webhookInput({ url, secret, ...rest }: OrganisationWebhookInput, language: Language): DestinationInput {
  return { ...rest, kind: 'webhook', language, settings: { url, secret } }
}

function webhookChange({ url, secret, ...rest }: OrganisationWebhookChange): DestinationChange {
  const settings = { ...(url === undefined ? {} : { url }), ...(secret === undefined ? {} : { secret }) }
  return { ...rest, ...(Object.keys(settings).length > 0 ? { settings } : {}) }
}

const askedBy = (context: Context) => ({ caller: requireCaller(context), membership: requireOrganisation(context) })

/** The id of a budget that belongs to the organisation of the path. Throws `not_found`. */
async function ownBudget(context: Context, id: number): Promise<number> {
  const seen = await listOrganisationBudgets(context.app, requireCaller(context), requireOrganisation(context))
  return seen.find((budget) => budget.id === id)?.id ?? fail('not_found')
}

const teamsShown = (context: Context) => listTeams(context.app.db, requireOrganisation(context))
