import type { Handlers } from '../../../contract/route.ts'
import type { taskRoutes } from '../../../contract/routes/tasks.ts'
import { zeroBased } from '../../base/db/page.ts'
import { recordExport } from '../../base/options/record-export.ts'
import { exportDrawings, exportTasks, exportVideos } from '../../gateway/tasks/export.ts'
import { forOwner, listDrawings, listTasks, listVideos } from '../../gateway/tasks/lists.ts'
import { type Context, listed, logOwnerOf, requireCaller } from './context.ts'

export const taskHandlers: Handlers<typeof taskRoutes, Context> = {
  async 'GET /api/mj/'(context, { query: { p, page_size, paged, sort, mj_id, ...filter } }) {
    const asked = { filter: { ...filter, shownId: mj_id }, page: zeroBased(p, page_size), sort }
    return listed(context, await listDrawings(context.app, asked), { isPaged: paged, page: p, size: page_size })
  },

  async 'GET /api/mj/self'(context, { query: { p, page_size, paged, sort, mj_id, ...filter } }) {
    const own = { ...filter, ...(await logOwnerOf(context)), shownId: mj_id }
    const { items, total } = await listDrawings(context.app, { filter: own, page: zeroBased(p, page_size), sort })
    return listed(context, { items: forOwner(items), total }, { isPaged: paged, page: p, size: page_size })
  },

  async 'GET /api/mj/export.csv'(context, { query: { time_zone: timeZone, mj_id, ...filter } }) {
    await recordExport(context.app, requireCaller(context), {
      action: 'drawing.export',
      target: 'drawings',
      asked: { mj_id, ...filter },
    })
    return exportDrawings(context.app, { filter: { ...filter, shownId: mj_id }, timeZone })
  },

  async 'GET /api/mj/self/export.csv'(context, { query: { time_zone: timeZone, mj_id, ...filter } }) {
    const own = { ...filter, ...(await logOwnerOf(context)), shownId: mj_id }
    return exportDrawings(context.app, { filter: own, timeZone })
  },

  async 'GET /api/task/'(context, { query: { p, page_size, paged, sort, task_id, ...filter } }) {
    const asked = { filter: { ...filter, shownId: task_id }, page: zeroBased(p, page_size), sort }
    return listed(context, await listTasks(context.app, asked), { isPaged: paged, page: p, size: page_size })
  },

  async 'GET /api/task/self'(context, { query: { p, page_size, paged, sort, task_id, ...filter } }) {
    const own = { ...filter, ...(await logOwnerOf(context)), shownId: task_id }
    const { items, total } = await listTasks(context.app, { filter: own, page: zeroBased(p, page_size), sort })
    return listed(context, { items: forOwner(items), total }, { isPaged: paged, page: p, size: page_size })
  },

  async 'GET /api/task/export.csv'(context, { query: { time_zone: timeZone, task_id, ...filter } }) {
    await recordExport(context.app, requireCaller(context), {
      action: 'task.export',
      target: 'tasks',
      asked: { task_id, ...filter },
    })
    return exportTasks(context.app, { filter: { ...filter, shownId: task_id }, timeZone })
  },

  async 'GET /api/task/self/export.csv'(context, { query: { time_zone: timeZone, task_id, ...filter } }) {
    const own = { ...filter, ...(await logOwnerOf(context)), shownId: task_id }
    return exportTasks(context.app, { filter: own, timeZone })
  },

  async 'GET /api/video/'(context, { query: { p, page_size, paged, sort, video_id, ...filter } }) {
    const asked = { filter: { ...filter, shownId: video_id }, page: zeroBased(p, page_size), sort }
    return listed(context, await listVideos(context.app, asked), { isPaged: paged, page: p, size: page_size })
  },

  async 'GET /api/video/self'(context, { query: { p, page_size, paged, sort, video_id, ...filter } }) {
    const own = { ...filter, ...(await logOwnerOf(context)), shownId: video_id }
    const { items, total } = await listVideos(context.app, { filter: own, page: zeroBased(p, page_size), sort })
    return listed(context, { items: forOwner(items), total }, { isPaged: paged, page: p, size: page_size })
  },

  async 'GET /api/video/export.csv'(context, { query: { time_zone: timeZone, video_id, ...filter } }) {
    await recordExport(context.app, requireCaller(context), {
      action: 'video.export',
      target: 'videos',
      asked: { video_id, ...filter },
    })
    return exportVideos(context.app, { filter: { ...filter, shownId: video_id }, timeZone })
  },

  async 'GET /api/video/self/export.csv'(context, { query: { time_zone: timeZone, video_id, ...filter } }) {
    const own = { ...filter, ...(await logOwnerOf(context)), shownId: video_id }
    return exportVideos(context.app, { filter: own, timeZone })
  },
}
