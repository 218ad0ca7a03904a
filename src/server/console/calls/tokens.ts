import type { Token } from '../../../contract/entities/token.ts'
import type { Handlers } from '../../../contract/route.ts'
import { tokenRoutes } from '../../../contract/routes/tokens.ts'
import { type PageOf, zeroBased } from '../../base/db/page.ts'
import { fail } from '../../base/lib/failure.ts'
import { usableGroups } from '../../money/pricing/groups.ts'
import { moveToken } from '../../people/tokens/place.ts'
import {
  changeTokens,
  createToken,
  deleteToken,
  editToken,
  exportTokens,
  findToken,
  type GroupCheck,
  listTokens,
  searchTokens,
  setTokenStatus,
  type TokenSearch,
} from '../../people/tokens/tokens.ts'
import { requireMembership } from './authorize-organisation.ts'
import { type Context, listed, ownerOf, payerOf, requireCaller, requireOrganisation } from './context.ts'

export const tokenHandlers: Handlers<typeof tokenRoutes, Context> = {
  async 'GET /api/token/'(context, { query }) {
    const page = pageOf(query)
    const asked = { ...(await ownerOf(context)), page, sort: query.sort }
    return listed(context, await listTokens(context.app, asked), { isPaged: query.paged, page: query.p, size: page.limit })
  },

  async 'GET /api/token/search'(context, { query }) {
    const found = await searchTokens(context.app, { ...(await searchOf(context, query)), sort: query.sort })
    if (query.paged) return cut(found, query.p, pageOf(query))
    context.setTotal(found.length)
    return found
  },

  async *'GET /api/token/export.csv'(context, { query }) {
    yield* exportTokens(context.app, { search: await searchOf(context, query), timeZone: query.time_zone })
  },

  'GET /api/token/:id': async (context, { params }) => findToken(context.app, { ...(await ownerOf(context)), id: params.id }),

  async 'POST /api/token/:id/key'(context, { params }) {
    const { key } = await findToken(context.app, { ...(await ownerOf(context)), id: params.id })
    return { key: key || fail('organisation_role') }
  },

  async 'POST /api/token/'(given, { body: { organisation_id, member_id, team_id = 0, ...input } }) {
    const context = organisation_id === undefined ? given : await forOrganisation(given, organisation_id)
    const { organisation: membership } = context
    const { userId, reach } = await ownerOf(context)
    const asked = { userId, input, mayUse: groupsOf(context) }
    if (!membership || !reach) return createToken(context.app, asked)
    const within = { membership, reach, memberId: member_id ?? membership.memberId, teamId: team_id }
    return createToken(context.app, { ...asked, within })
  },

  async 'POST /api/token/:id/move'(context, { params, body }) {
    const membership = requireOrganisation(context)
    await moveToken(context.app, { membership, id: params.id, memberId: body.member_id, teamId: body.team_id })
    return findToken(context.app, { ...(await ownerOf(context)), id: params.id })
  },

  async 'PUT /api/token/'(context, { query, body: { id, status, ...input } }) {
    const owner = await ownerOf(context)
    if (query.status_only) return setTokenStatus(context.app, { ...owner, id, status: status ?? failStatus() })
    const edit = { ...owner, id, input, status, mayUse: groupsOf(context) }
    const token = await editToken(context.app, edit)
    context.app.ledger.refresh({ tokenId: id })
    return token
  },

  async 'DELETE /api/token/:id'(context, { params }) {
    await deleteToken(context.app, { ...(await ownerOf(context)), id: params.id })
    return null
  },

  'POST /api/token/batch': async (context, { body }) => changeTokens(context.app, { ...(await ownerOf(context)), ...body }),
}

async function searchOf(
  context: Context,
  { keyword, token: key, group, status }: { keyword: string; token: string; group: string; status: number },
): Promise<TokenSearch> {
  return { ...(await ownerOf(context)), keyword, key, group, status }
}

/** The call of a body that names its organisation, as if the header named it. */
async function forOrganisation(context: Context, id: number): Promise<Context> {
  const { app } = context
  const asked = { account: requireCaller(context), organisation: String(id), route: tokenRoutes['POST /api/token/'] }
  return { ...context, organisation: await requireMembership(app, asked) }
}

function failStatus(): never {
  return fail('field_invalid', { field: 'status', reason: { zh: '须为 1 或 2', en: 'must be 1 or 2' } })
}

/** Lists accept `size` from compatible clients and `page_size` from others. */
function pageOf({ p, size, page_size = 10 }: { p: number; size?: number; page_size?: number }): PageOf {
  return zeroBased(p, size ?? page_size)
}

function cut(items: Token[], page: number, { offset, limit }: PageOf) {
  return { items: items.slice(offset, offset + limit), total: items.length, page, page_size: limit }
}

/** '' is the user's own group, and `auto` any group that the user may use. */
function groupsOf(context: Context): GroupCheck {
  const usable = usableGroups(context.app.options.current, payerOf(context).group)
  return (group) => group === '' || group === 'auto' || Object.hasOwn(usable, group)
}
