import type { Handlers } from '../../contract/route.ts'
import type { taskRoutes } from '../../contract/routes/tasks.ts'
import { zeroBased } from '../db/page.ts'
import { forOwner, listDrawings, listTasks } from '../tasks/lists.ts'
import { type Context, requireCaller } from './context.ts'

export const taskHandlers: Handlers<typeof taskRoutes, Context> = {
  async 'GET /api/mj/'({ app }, { query: { p, page_size, paged, mj_id, ...filter } }) {
    const list = await listDrawings(app, { filter: { ...filter, upstreamId: mj_id }, page: zeroBased(p, page_size) })
    return paged ? { ...list, page: p, page_size } : list.items
  },

  async 'GET /api/mj/self'(context, { query: { p, page_size, paged, mj_id, ...filter } }) {
    const { id: userId } = requireCaller(context)
    const own = { filter: { ...filter, userId, upstreamId: mj_id }, page: zeroBased(p, page_size) }
    const { items, total } = await listDrawings(context.app, own)
    return paged ? { items: forOwner(items), total, page: p, page_size } : forOwner(items)
  },

  async 'GET /api/task/'({ app }, { query: { p, page_size, paged, task_id, ...filter } }) {
    const list = await listTasks(app, { filter: { ...filter, upstreamId: task_id }, page: zeroBased(p, page_size) })
    return paged ? { ...list, page: p, page_size } : list.items
  },

  async 'GET /api/task/self'(context, { query: { p, page_size, paged, task_id, ...filter } }) {
    const { id: userId } = requireCaller(context)
    const own = { filter: { ...filter, userId, upstreamId: task_id }, page: zeroBased(p, page_size) }
    const { items, total } = await listTasks(context.app, own)
    return paged ? { items: forOwner(items), total, page: p, page_size } : forOwner(items)
  },
}
