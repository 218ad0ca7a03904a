import type { redemptionInput } from '../../../contract/entities/redemption.ts'
import type { Handlers } from '../../../contract/route.ts'
import type { redemptionRoutes } from '../../../contract/routes/redemptions.ts'
import { oneBased } from '../../base/db/page.ts'
import { fail } from '../../base/lib/failure.ts'
import { exportRedemptions, findRedemption, listRedemptions, searchRedemptions } from '../../money/payments/list-redemptions.ts'
import {
  changeRedemptions,
  createRedemptions,
  deleteInvalidRedemptions,
  deleteRedemption,
  editRedemption,
  setRedemptionStatus,
} from '../../money/payments/redemptions.ts'
import { type Context, requireCaller } from './context.ts'

export const redemptionHandlers: Handlers<typeof redemptionRoutes, Context> = {
  async 'GET /api/redemption/'({ app }, { query: { p, page_size } }) {
    return { ...(await listRedemptions(app, oneBased(p, page_size))), page: p, page_size }
  },

  async 'GET /api/redemption/search'({ app }, { query: { p, page_size, ...asked } }) {
    return { ...(await searchRedemptions(app, { ...asked, page: oneBased(p, page_size) })), page: p, page_size }
  },

  'GET /api/redemption/export.csv': (context, { query }) =>
    exportRedemptions(context.app, { filter: query, caller: requireCaller(context) }),

  'GET /api/redemption/:id': ({ app }, { params }) => findRedemption(app, params.id),

  'POST /api/redemption/': (context, { body: { count, ...input } }) =>
    createRedemptions(context.app, { input, count, caller: requireCaller(context) }),

  'PUT /api/redemption/'(context, { query, body: { id, status, name, quota, expired_time } }) {
    const caller = requireCaller(context)
    if (query.status_only) return setRedemptionStatus(context.app, { id, status: status ?? failField('status'), caller })
    const input = { name: name ?? failField('name'), quota: quota ?? failField('quota'), expired_time }
    return editRedemption(context.app, { id, input, caller })
  },

  'POST /api/redemption/batch': (context, { body }) =>
    changeRedemptions(context.app, { ...body, caller: requireCaller(context) }),

  'DELETE /api/redemption/invalid': (context) => deleteInvalidRedemptions(context.app, { caller: requireCaller(context) }),

  async 'DELETE /api/redemption/:id'(context, { params }) {
    await deleteRedemption(context.app, { id: params.id, caller: requireCaller(context) })
    return null
  },
}

function failField(field: keyof typeof redemptionInput.shape | 'status'): never {
  const reason = field === 'status' ? { zh: '须为 1 或 2', en: 'must be 1 or 2' } : { zh: '不能为空', en: 'is required' }
  return fail('field_invalid', { field, reason })
}
