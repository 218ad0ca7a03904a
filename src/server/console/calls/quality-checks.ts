import type { Handlers } from '../../../contract/route.ts'
import type { qualityCheckRoutes } from '../../../contract/routes/quality-checks.ts'
import { oneBased } from '../../base/db/page.ts'
import {
  changeCheck,
  createCheck,
  deleteCheck,
  findCheck,
  listChecks,
  requestRun,
  switchCheck,
} from '../../watch/quality/checks.ts'
import { listResults, readResultAnswer } from '../../watch/quality/results.ts'
import { type Context, requireCaller } from './context.ts'

export const qualityCheckHandlers: Handlers<typeof qualityCheckRoutes, Context> = {
  async 'GET /api/quality_check/'({ app }, { query: { p, page_size, keyword } }) {
    return { ...(await listChecks(app, { keyword, page: oneBased(p, page_size) })), page: p, page_size }
  },

  'GET /api/quality_check/:id': ({ app }, { params: { id } }) => findCheck(app, id),

  'POST /api/quality_check/': (context, { body }) => createCheck(context.app, { caller: requireCaller(context), input: body }),

  'PUT /api/quality_check/:id': (context, { params: { id }, body }) =>
    changeCheck(context.app, { caller: requireCaller(context), id, input: body }),

  'PUT /api/quality_check/:id/enabled': (context, { params: { id }, body: { enabled } }) =>
    switchCheck(context.app, { caller: requireCaller(context), id, enabled }),

  'DELETE /api/quality_check/:id': (context, { params: { id } }) =>
    deleteCheck(context.app, { caller: requireCaller(context), id }),

  async 'POST /api/quality_check/:id/run'(context, { params: { id } }) {
    await requestRun(context.app, { caller: requireCaller(context), id })
    // A job that is already running picks it up before it ends.
    await context.app.startJob('run-quality-checks')
    return null
  },

  async 'GET /api/quality_check/:id/results'({ app }, { params: { id }, query: { p, page_size, ...filter } }) {
    await findCheck(app, id)
    return { ...(await listResults(app, { checkId: id, ...filter, page: oneBased(p, page_size) })), page: p, page_size }
  },

  'GET /api/quality_check/result/:id': ({ app }, { params: { id } }) => readResultAnswer(app, id),
}
