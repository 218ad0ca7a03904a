import { z } from 'zod'
import { drawing, task, taskSorts, video } from '../entities/task.ts'
import { arrayOrPage, queryInt, querySort, queryText, zeroBasedPage } from '../envelope.ts'
import { organisationAccess } from '../organisation-roles.ts'
import { routes } from '../route.ts'

/** `before` is the id of the last row of the previous page: it makes the last page as fast as the first. */
const paging = { ...zeroBasedPage, before: queryInt.optional(), sort: querySort(taskSorts) }
const filters = { start_timestamp: queryInt, end_timestamp: queryInt, action: queryText, status: queryText }
const ownDrawings = z.object({ ...filters, mj_id: queryText })
const ownTasks = z.object({ ...filters, platform: queryText, task_id: queryText })
const ownVideos = z.object({ ...filters, video_id: queryText })
const ofEverybody = { channel_id: queryInt, username: queryText }
const zone = { time_zone: queryText }
const drawingsFile = { type: 'text/csv', fileName: 'drawings.csv' } as const
const tasksFile = { type: 'text/csv', fileName: 'tasks.csv' } as const
const videosFile = { type: 'text/csv', fileName: 'videos.csv' } as const

export const taskRoutes = routes({
  'GET /api/mj/': {
    access: 'admin',
    summary: 'List drawings of all users, newest first by default; times are in milliseconds',
    query: ownDrawings.extend({ ...ofEverybody, ...paging }),
    reply: arrayOrPage(drawing),
  },
  'GET /api/mj/self': {
    access: 'user',
    roles: organisationAccess.logReaders,
    summary: 'List own drawings, newest first by default; times are in milliseconds',
    query: ownDrawings.extend(paging),
    reply: arrayOrPage(drawing),
  },
  'GET /api/task/': {
    access: 'admin',
    summary: 'List music tasks of all users, newest first by default; times are in seconds',
    query: ownTasks.extend({ ...ofEverybody, ...paging }),
    reply: arrayOrPage(task),
  },
  'GET /api/task/self': {
    access: 'user',
    roles: organisationAccess.logReaders,
    summary: 'List own music tasks, newest first by default; times are in seconds',
    query: ownTasks.extend(paging),
    reply: arrayOrPage(task),
  },
  'GET /api/video/': {
    access: 'admin',
    summary: 'List videos of all users, newest first by default; times are in seconds',
    query: ownVideos.extend({ ...ofEverybody, ...paging }),
    reply: arrayOrPage(video),
  },
  'GET /api/video/self': {
    access: 'user',
    roles: organisationAccess.logReaders,
    summary: 'List own videos that are not deleted, newest first by default; times are in seconds',
    query: ownVideos.extend(paging),
    reply: arrayOrPage(video),
  },
  'GET /api/mj/export.csv': {
    access: 'admin',
    summary: 'Export matching drawings as CSV, newest first, with times of the given zone; recorded in the audit log',
    query: ownDrawings.extend({ ...ofEverybody, ...zone }),
    reply: z.string(),
    text: drawingsFile,
  },
  'GET /api/mj/self/export.csv': {
    access: 'user',
    roles: organisationAccess.logReaders,
    summary: 'Export matching own drawings as CSV, newest first, with times of the given zone',
    query: ownDrawings.extend(zone),
    reply: z.string(),
    text: drawingsFile,
  },
  'GET /api/task/export.csv': {
    access: 'admin',
    summary: 'Export matching music tasks as CSV, newest first, with times of the given zone; recorded in the audit log',
    query: ownTasks.extend({ ...ofEverybody, ...zone }),
    reply: z.string(),
    text: tasksFile,
  },
  'GET /api/task/self/export.csv': {
    access: 'user',
    roles: organisationAccess.logReaders,
    summary: 'Export matching own music tasks as CSV, newest first, with times of the given zone',
    query: ownTasks.extend(zone),
    reply: z.string(),
    text: tasksFile,
  },
  'GET /api/video/export.csv': {
    access: 'admin',
    summary: 'Export matching videos as CSV, newest first, with times of the given zone; recorded in the audit log',
    query: ownVideos.extend({ ...ofEverybody, ...zone }),
    reply: z.string(),
    text: videosFile,
  },
  'GET /api/video/self/export.csv': {
    access: 'user',
    roles: organisationAccess.logReaders,
    summary: 'Export matching own videos as CSV, newest first, with times of the given zone',
    query: ownVideos.extend(zone),
    reply: z.string(),
    text: videosFile,
  },
})
