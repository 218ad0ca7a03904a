import type { Handlers } from '../../../contract/route.ts'
import type { alertRoutes } from '../../../contract/routes/alerts.ts'
import { oneBased } from '../../base/db/page.ts'
import { listDeliveries, sendAgain } from '../../people/notify/deliveries.ts'
import { changeDestination, createDestination, deleteDestination, listDestinations } from '../../people/notify/destinations.ts'
import { testDestination } from '../../people/notify/send-deliveries.ts'
import { previewRule, testRule } from '../../watch/alerts/preview.ts'
import { createSilence, deleteSilence, listAlerts, listRules, listSilences, saveRule } from '../../watch/alerts/settings.ts'
import { type Context, requireCaller } from './context.ts'

export const alertHandlers: Handlers<typeof alertRoutes, Context> = {
  'GET /api/alert/rule/': ({ app }) => listRules(app),

  'PUT /api/alert/rule/:rule': (context, { params: { rule }, body }) =>
    saveRule(context.app, { caller: requireCaller(context), rule, input: body }),

  'POST /api/alert/rule/:rule/preview': ({ app, disconnected }, { params: { rule }, body }) =>
    previewRule(app, { rule, ...body, signal: disconnected }),

  'POST /api/alert/rule/:rule/test': ({ app }, { params: { rule } }) => testRule(app, rule),

  async 'GET /api/alert/history/'({ app }, { query: { p, page_size, rule } }) {
    return { ...(await listAlerts(app, { rule, page: oneBased(p, page_size) })), page: p, page_size }
  },

  'GET /api/alert/silence/': ({ app }) => listSilences(app),

  'POST /api/alert/silence/': (context, { body }) => createSilence(context.app, { caller: requireCaller(context), input: body }),

  'DELETE /api/alert/silence/:id': (context, { params: { id } }) =>
    deleteSilence(context.app, { caller: requireCaller(context), id }),

  'GET /api/alert/destination/': ({ app }) => listDestinations(app),

  'POST /api/alert/destination/': (context, { body }) =>
    createDestination(context.app, { caller: requireCaller(context), input: body }),

  'PUT /api/alert/destination/:id': (context, { params: { id }, body }) =>
    changeDestination(context.app, { caller: requireCaller(context), id, change: body }),

  async 'DELETE /api/alert/destination/:id'(context, { params: { id } }) {
    await deleteDestination(context.app, { caller: requireCaller(context), id })
    return null
  },

  'POST /api/alert/destination/:id/test': ({ app }, { params: { id } }) => testDestination(app, id),

  async 'GET /api/alert/delivery/'({ app }, { query: { p, page_size, ...filter } }) {
    return { ...(await listDeliveries(app, { ...filter, page: oneBased(p, page_size) })), page: p, page_size }
  },

  async 'POST /api/alert/delivery/:id/send'(context, { params: { id } }) {
    await sendAgain(context.app, { caller: requireCaller(context), id })
    return null
  },
}
