import type { Handlers } from '../../../contract/route.ts'
import type { batchRoutes } from '../../../contract/routes/batches.ts'
import { oneBased } from '../../base/db/page.ts'
import { recordExport } from '../../base/options/record-export.ts'
import { cancelOwnBatch } from '../../gateway/batches/follow.ts'
import { exportLines, listAllBatches, listLines } from '../../gateway/batches/lists.ts'
import { type Context, requireCaller } from './context.ts'

export const batchHandlers: Handlers<typeof batchRoutes, Context> = {
  async 'GET /api/batch/'({ app }, { query: { p, page_size, ...filter } }) {
    return { ...(await listAllBatches(app, { filter, page: oneBased(p, page_size) })), page: p, page_size }
  },

  async 'GET /api/batch/self'(context, { query: { p, page_size, ...asked } }) {
    const filter = { ...asked, ...ofCaller(context) }
    return { ...(await listAllBatches(context.app, { filter, page: oneBased(p, page_size) })), page: p, page_size }
  },

  async 'GET /api/batch/lines'({ app }, { query: { p, page_size, batch_id: batchId } }) {
    return { ...(await listLines(app, { batchId }, oneBased(p, page_size))), page: p, page_size }
  },

  async 'GET /api/batch/self/lines'(context, { query: { p, page_size, batch_id: batchId } }) {
    const asked = { batchId, ...ofCaller(context) }
    return { ...(await listLines(context.app, asked, oneBased(p, page_size))), page: p, page_size }
  },

  async 'GET /api/batch/lines/export.csv'(context, { query: { batch_id: batchId } }) {
    const file = await exportLines(context.app, { batchId })
    await recordExport(context.app, requireCaller(context), { action: 'batch.export', target: 'batches', asked: { batchId } })
    return file
  },

  'GET /api/batch/self/lines/export.csv': (context, { query: { batch_id: batchId } }) =>
    exportLines(context.app, { batchId, ...ofCaller(context) }),

  async 'POST /api/batch/self/cancel'(context, { body: { batch_id: id } }) {
    await cancelOwnBatch(context.app, { id, ...ofCaller(context) })
    return null
  },
}

const ofCaller = (context: Context) => ({ userId: requireCaller(context).id })
