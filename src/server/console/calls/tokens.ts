import type { Token } from '../../../contract/entities/token.ts'
import type { Handlers } from '../../../contract/route.ts'
import type { tokenRoutes } from '../../../contract/routes/tokens.ts'
import { type PageOf, zeroBased } from '../../base/db/page.ts'
import { fail } from '../../base/lib/failure.ts'
import { usableGroups } from '../../money/pricing/groups.ts'
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
import { type Context, listed, requireCaller } from './context.ts'

export const tokenHandlers: Handlers<typeof tokenRoutes, Context> = {
  async 'GET /api/token/'(context, { query }) {
    const page = pageOf(query)
    const asked = { userId: requireCaller(context).id, page, sort: query.sort }
    return listed(context, await listTokens(context.app, asked), { isPaged: query.paged, page: query.p, size: page.limit })
  },

  async 'GET /api/token/search'(context, { query }) {
    const found = await searchTokens(context.app, { ...searchOf(context, query), sort: query.sort })
    if (query.paged) return cut(found, query.p, pageOf(query))
    context.setTotal(found.length)
    return found
  },

  'GET /api/token/export.csv': (context, { query }) =>
    exportTokens(context.app, { search: searchOf(context, query), timeZone: query.time_zone }),

  'GET /api/token/:id': (context, { params }) => findToken(context.app, { userId: requireCaller(context).id, id: params.id }),

  async 'POST /api/token/:id/key'(context, { params }) {
    const { key } = await findToken(context.app, { userId: requireCaller(context).id, id: params.id })
    return { key }
  },

  'POST /api/token/': (context, { body }) =>
    createToken(context.app, { userId: requireCaller(context).id, input: body, mayUse: groupsOf(context) }),

  async 'PUT /api/token/'(context, { query, body: { id, status, ...input } }) {
    const userId = requireCaller(context).id
    if (query.status_only) return setTokenStatus(context.app, { userId, id, status: status ?? failStatus() })
    const edit = { userId, id, input, status, mayUse: groupsOf(context) }
    const token = await editToken(context.app, edit)
    context.app.ledger.refresh({ tokenId: id })
    return token
  },

  async 'DELETE /api/token/:id'(context, { params }) {
    await deleteToken(context.app, { userId: requireCaller(context).id, id: params.id })
    return null
  },

  'POST /api/token/batch': (context, { body }) => changeTokens(context.app, { userId: requireCaller(context).id, ...body }),
}

function searchOf(
  context: Context,
  { keyword, token: key, group, status }: { keyword: string; token: string; group: string; status: number },
): TokenSearch {
  return { userId: requireCaller(context).id, keyword, key, group, status }
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
  const usable = usableGroups(context.app.options.current, requireCaller(context).group)
  return (group) => group === '' || group === 'auto' || Object.hasOwn(usable, group)
}
