import { z } from 'zod'
import { filesUsage, storedFile } from '../entities/stored-file.ts'
import { oneBasedPage, page, queryInt, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const filters = { file_id: queryText, filename: queryText, purpose: queryText }
const ofEverybody = { channel_id: queryInt, username: queryText }
const zone = { time_zone: queryText }
const fileParams = z.object({ file_id: z.string().max(100) })
const filesFile = { type: 'text/csv', fileName: 'files.csv' } as const

export const fileRoutes = routes({
  'GET /api/file/': {
    access: 'admin',
    summary: 'List files that users store at vendors, newest first; times are in seconds',
    query: z.object({ ...filters, ...ofEverybody, ...oneBasedPage }),
    reply: page(storedFile),
  },
  'GET /api/file/self': {
    access: 'user',
    summary: 'List own files at vendors, newest first; times are in seconds',
    query: z.object({ ...filters, ...oneBasedPage }),
    reply: page(storedFile),
  },
  'GET /api/file/usage': {
    access: 'admin',
    summary: 'Get the number and size of the files of a user, or of everybody, and the quota of each user',
    query: z.object({ username: queryText }),
    reply: filesUsage,
  },
  'GET /api/file/self/usage': {
    access: 'user',
    summary: 'Get the number and size of the own files, and the quota for them',
    reply: filesUsage,
  },
  'GET /api/file/export.csv': {
    access: 'admin',
    summary: 'Export matching files as CSV, newest first, with times of the given zone; recorded in the audit log',
    query: z.object({ ...filters, ...ofEverybody, ...zone }),
    reply: z.string(),
    text: filesFile,
  },
  'GET /api/file/self/export.csv': {
    access: 'user',
    summary: 'Export matching own files as CSV, newest first, with times of the given zone',
    query: z.object({ ...filters, ...zone }),
    reply: z.string(),
    text: filesFile,
  },
  'DELETE /api/file/:file_id': {
    access: 'admin',
    summary: 'Delete a file of a user of a lower role, here and at its vendor',
    params: fileParams,
    reply: z.null(),
  },
  'DELETE /api/file/self/:file_id': {
    access: 'user',
    summary: 'Delete an own file, here and at its vendor',
    params: fileParams,
    reply: z.null(),
  },
})
