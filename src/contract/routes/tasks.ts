import { z } from 'zod'
import { drawing, task, taskSorts } from '../entities/task.ts'
import { arrayOrPage, queryInt, querySort, queryText, zeroBasedPage } from '../envelope.ts'
import { routes } from '../route.ts'

/** `before` is the id of the last row of the page before: as quick for the last page as for the first. */
const paging = { ...zeroBasedPage, before: queryInt.optional(), sort: querySort(taskSorts) }
const filters = { start_timestamp: queryInt, end_timestamp: queryInt, action: queryText, status: queryText }
const ownDrawings = z.object({ ...filters, mj_id: queryText })
const ownTasks = z.object({ ...filters, platform: queryText, task_id: queryText })
const ofEverybody = { channel_id: queryInt, username: queryText }
const zone = { time_zone: queryText }
const drawingsFile = { type: 'text/csv', fileName: 'drawings.csv' } as const
const tasksFile = { type: 'text/csv', fileName: 'tasks.csv' } as const

export const taskRoutes = routes({
  'GET /api/mj/': {
    access: 'admin',
    summary: 'Drawings of everybody, newest first unless sort says otherwise; times are milliseconds',
    query: ownDrawings.extend({ ...ofEverybody, ...paging }),
    reply: arrayOrPage(drawing),
  },
  'GET /api/mj/self': {
    access: 'user',
    summary: 'Own drawings, newest first unless sort says otherwise; times are milliseconds',
    query: ownDrawings.extend(paging),
    reply: arrayOrPage(drawing),
  },
  'GET /api/task/': {
    access: 'admin',
    summary: 'Music of everybody, newest first unless sort says otherwise; times are seconds',
    query: ownTasks.extend({ ...ofEverybody, ...paging }),
    reply: arrayOrPage(task),
  },
  'GET /api/task/self': {
    access: 'user',
    summary: 'Own music, newest first unless sort says otherwise; times are seconds',
    query: ownTasks.extend(paging),
    reply: arrayOrPage(task),
  },
  'GET /api/mj/export.csv': {
    access: 'admin',
    summary: 'The drawings that match, as CSV, newest first, with times of the zone that is named; the audit tells who took them',
    query: ownDrawings.extend({ ...ofEverybody, ...zone }),
    reply: z.string(),
    text: drawingsFile,
  },
  'GET /api/mj/self/export.csv': {
    access: 'user',
    summary: 'The own drawings that match, as CSV, newest first, with times of the zone that is named',
    query: ownDrawings.extend(zone),
    reply: z.string(),
    text: drawingsFile,
  },
  'GET /api/task/export.csv': {
    access: 'admin',
    summary:
      'The music tasks that match, as CSV, newest first, with times of the zone that is named; the audit tells who took them',
    query: ownTasks.extend({ ...ofEverybody, ...zone }),
    reply: z.string(),
    text: tasksFile,
  },
  'GET /api/task/self/export.csv': {
    access: 'user',
    summary: 'The own music tasks that match, as CSV, newest first, with times of the zone that is named',
    query: ownTasks.extend(zone),
    reply: z.string(),
    text: tasksFile,
  },
})
