import { z } from 'zod'
import {
  allowance,
  invitation,
  invitationInput,
  invitationShown,
  newOrganisation,
  organisation,
  organisationEdit,
  organisationMember,
  sentInvitation,
  team,
  teamEdit,
  teamInput,
  teamMembership,
} from '../entities/organisation.ts'
import { idParams, oneBasedPage, page, queryFlag, queryText } from '../envelope.ts'
import { organisationAccess, organisationRoles } from '../organisation-roles.ts'
import { quotaMax } from '../quota.ts'
import { routes } from '../route.ts'

const { insiders, managers, owners, teamManagers } = organisationAccess
const secret = z.object({ token: z.string().min(1).max(200) })
const memberId = z.object({ member_id: z.int().positive() })
const done = z.null()
const { id } = idParams.shape
const memberParams = z.object({ id, member: id })
const teamParams = z.object({ id, team: id })
const invitationParams = z.object({ id, invitation: id })

export const organisationRoutes = routes({
  'GET /api/organisation/': {
    access: 'user',
    summary: 'List the organisations of the caller, newest first; for admins with `all=true` every one',
    query: z.object({ ...oneBasedPage, all: queryFlag, keyword: queryText }),
    reply: page(organisation),
  },
  'POST /api/organisation/': {
    access: 'admin',
    summary: 'Found an organisation, whose owner is the caller; only super admins give it quota',
    body: newOrganisation,
    reply: organisation,
  },
  'PUT /api/organisation/:id': {
    access: 'user',
    roles: owners,
    summary: 'Rename an organisation; an admin of the site also sets its group, or suspends it (status 2)',
    params: idParams,
    body: organisationEdit.omit({ id: true }),
    reply: organisation,
  },
  'DELETE /api/organisation/:id': {
    access: 'admin',
    roles: ['owner', 'admin', 'billing', 'member', 'operator'],
    summary: 'Close an organisation for good: its tokens stop, its name stays taken and its books stay',
    params: idParams,
    reply: done,
  },
  'GET /api/organisation/:id': {
    access: 'user',
    roles: insiders,
    summary: 'Get an organisation, with its balance and the role of the caller',
    params: idParams,
    reply: organisation,
  },
  'POST /api/organisation/:id/quota': {
    access: 'root',
    roles: ['owner', 'admin', 'billing', 'member', 'operator'],
    summary: 'Change the balance of an organisation by a signed number of units',
    params: idParams,
    body: z.object({ change: z.int().min(-quotaMax).max(quotaMax), reason: z.string().trim().max(200).default('') }),
    reply: organisation,
  },
  'GET /api/organisation/:id/members': {
    access: 'user',
    roles: insiders,
    summary: 'List or search the members of an organisation, oldest first',
    params: idParams,
    query: z.object({ ...oneBasedPage, keyword: queryText }),
    reply: page(organisationMember),
  },
  'PUT /api/organisation/:id/members': {
    access: 'user',
    roles: managers,
    summary: 'Change the role of a member; only owners make and change owners',
    params: idParams,
    body: memberId.extend({ role: z.enum(organisationRoles) }),
    reply: done,
  },
  'DELETE /api/organisation/:id/members/:member': {
    access: 'user',
    roles: insiders,
    summary: 'End a membership, as an owner or admin or one’s own; the member’s tokens are deleted',
    params: memberParams,
    reply: done,
  },
  'POST /api/organisation/:id/transfer': {
    access: 'user',
    roles: owners,
    summary: 'Offer an organisation to a member, who becomes its owner by accepting; member 0 withdraws the offer',
    params: idParams,
    body: z.object({ member_id: z.int().min(0) }),
    reply: done,
  },
  'POST /api/organisation/:id/transfer/accept': {
    access: 'user',
    roles: ['admin', 'billing', 'member'],
    summary: 'Accept an offered organisation: the caller becomes an owner, and who offered it an admin',
    params: idParams,
    reply: organisation,
  },
  'GET /api/organisation/:id/teams': {
    access: 'user',
    roles: insiders,
    summary: 'List the teams of an organisation, each after the one that it is a part of',
    params: idParams,
    reply: z.array(team),
  },
  'POST /api/organisation/:id/teams': {
    access: 'user',
    roles: teamManagers,
    summary: 'Create a team, at the top or below another one that the caller manages; at most five levels',
    params: idParams,
    body: teamInput,
    reply: z.array(team),
  },
  'PUT /api/organisation/:id/teams': {
    access: 'user',
    roles: teamManagers,
    summary: 'Rename a team or move it below another one; what was charged stays where it was',
    params: idParams,
    body: teamEdit,
    reply: z.array(team),
  },
  'DELETE /api/organisation/:id/teams/:team': {
    access: 'user',
    roles: teamManagers,
    summary: 'Close a team; its tokens and the teams below it move to the one above',
    params: teamParams,
    reply: z.array(team),
  },
  'PUT /api/organisation/:id/teams/members': {
    access: 'user',
    roles: teamManagers,
    summary: 'Put a member into a team, or change whether the member manages it',
    params: idParams,
    body: teamMembership,
    reply: done,
  },
  'DELETE /api/organisation/:id/teams/:team/members/:member': {
    access: 'user',
    roles: teamManagers,
    summary: 'Take a member out of a team',
    params: teamParams.extend(memberParams.shape),
    reply: done,
  },
  'GET /api/organisation/:id/invitations': {
    access: 'user',
    roles: managers,
    summary: 'List the invitations of an organisation, newest first',
    params: idParams,
    reply: z.array(invitation),
  },
  'POST /api/organisation/:id/invitations': {
    access: 'user',
    roles: managers,
    limit: 'critical',
    summary: 'Invite somebody by mail, or make a link to pass on; the secret of the link is shown once',
    params: idParams,
    body: invitationInput,
    reply: sentInvitation,
  },
  'PUT /api/organisation/:id/invitations': {
    access: 'user',
    roles: managers,
    limit: 'critical',
    summary: 'Send an open invitation again with a new link; the old one ends',
    params: idParams,
    body: z.object({ invitation_id: z.int().positive() }),
    reply: sentInvitation,
  },
  'DELETE /api/organisation/:id/invitations/:invitation': {
    access: 'user',
    roles: managers,
    summary: 'Withdraw an open invitation',
    params: invitationParams,
    reply: done,
  },
  'GET /api/organisation/:id/allowances': {
    access: 'user',
    roles: insiders,
    summary: 'List what tokens below the organisation, its teams and members may do, where that is restricted',
    params: idParams,
    reply: z.array(allowance),
  },
  'PUT /api/organisation/:id/allowances': {
    access: 'user',
    roles: teamManagers,
    summary: 'Set what tokens below the organisation, a team or a member may do; it holds at once, the narrowest wins',
    params: idParams,
    body: allowance,
    reply: z.array(allowance),
  },
  'POST /api/invitation/': {
    access: 'user',
    limit: 'critical',
    summary: 'Get what an invitation is for, by the secret of its link',
    body: secret,
    reply: invitationShown,
  },
  'POST /api/invitation/answer': {
    access: 'user',
    limit: 'critical',
    summary: 'Accept or decline an invitation; returns the id of the organisation',
    body: secret.extend({ accept: z.boolean() }),
    reply: z.int(),
  },
})
