import { z } from 'zod'
import { drawing, task } from '../entities/task.ts'
import { arrayOrPage, queryInt, queryText, zeroBasedPage } from '../envelope.ts'
import { routes } from '../route.ts'

/** `before` is the id of the last row of the page before: as quick for the last page as for the first. */
const paging = {
  ...zeroBasedPage,
  before: queryInt.optional(),
  start_timestamp: queryInt,
  end_timestamp: queryInt,
  action: queryText,
  status: queryText,
}
const ownDrawings = z.object({ ...paging, mj_id: queryText })
const ownTasks = z.object({ ...paging, platform: queryText, task_id: queryText })

export const taskRoutes = routes({
  'GET /api/mj/': {
    access: 'admin',
    summary: 'Drawings of everybody, newest first; times are milliseconds',
    query: ownDrawings.extend({ channel_id: queryInt, username: queryText }),
    reply: arrayOrPage(drawing),
  },
  'GET /api/mj/self': {
    access: 'user',
    summary: 'Own drawings, newest first; times are milliseconds',
    query: ownDrawings,
    reply: arrayOrPage(drawing),
  },
  'GET /api/task/': {
    access: 'admin',
    summary: 'Music of everybody, newest first; times are seconds',
    query: ownTasks.extend({ channel_id: queryInt, username: queryText }),
    reply: arrayOrPage(task),
  },
  'GET /api/task/self': {
    access: 'user',
    summary: 'Own music, newest first; times are seconds',
    query: ownTasks,
    reply: arrayOrPage(task),
  },
})
