import type { Handlers } from '../../../contract/route.ts'
import type { fileRoutes } from '../../../contract/routes/files.ts'
import { oneBased } from '../../base/db/page.ts'
import { recordExport } from '../../base/options/record-export.ts'
import { exportFiles, listStoredFiles, usageOfFiles } from '../../gateway/files/lists.ts'
import { deleteFileOfUser, deleteOwnFile } from '../../gateway/files/remove.ts'
import { type Context, requireCaller } from './context.ts'

export const fileHandlers: Handlers<typeof fileRoutes, Context> = {
  async 'GET /api/file/'({ app }, { query: { p, page_size, ...filter } }) {
    return { ...(await listStoredFiles(app, { filter, page: oneBased(p, page_size) })), page: p, page_size }
  },

  async 'GET /api/file/self'(context, { query: { p, page_size, ...asked } }) {
    const filter = { ...asked, ...ofCaller(context) }
    return { ...(await listStoredFiles(context.app, { filter, page: oneBased(p, page_size) })), page: p, page_size }
  },

  'GET /api/file/usage': ({ app }, { query }) => usageOfFiles(app, query),

  'GET /api/file/self/usage': (context) => usageOfFiles(context.app, ofCaller(context)),

  async 'GET /api/file/export.csv'(context, { query: { time_zone: timeZone, ...filter } }) {
    await recordExport(context.app, requireCaller(context), { action: 'file.export', target: 'files', asked: filter })
    return exportFiles(context.app, { filter, timeZone })
  },

  'GET /api/file/self/export.csv': (context, { query: { time_zone: timeZone, ...asked } }) =>
    exportFiles(context.app, { filter: { ...asked, ...ofCaller(context) }, timeZone }),

  async 'DELETE /api/file/:file_id'(context, { params: { file_id: id } }) {
    await deleteFileOfUser(context.app, requireCaller(context), id)
    return null
  },

  async 'DELETE /api/file/self/:file_id'(context, { params: { file_id: id } }) {
    await deleteOwnFile(context.app, { id, ...ofCaller(context) })
    return null
  },
}

const ofCaller = (context: Context) => ({ userId: requireCaller(context).id })
