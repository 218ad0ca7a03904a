import { z } from 'zod'
import { batch, batchLine } from '../entities/batch.ts'
import { oneBasedPage, page, queryInt, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const filters = { start_timestamp: queryInt, end_timestamp: queryInt, state: queryText, batch_id: queryText, ...oneBasedPage }
const linesOf = z.object({ batch_id: queryText, ...oneBasedPage })
const exported = z.object({ batch_id: queryText })
const linesFile = { type: 'text/csv', fileName: 'batch.csv' } as const

export const batchRoutes = routes({
  'GET /api/batch/': {
    access: 'admin',
    summary: 'List batches of all users, newest first; times are in seconds',
    query: z.object({ ...filters, channel_id: queryInt, username: queryText }),
    reply: page(batch),
  },
  'GET /api/batch/self': {
    access: 'user',
    summary: 'List own batches, newest first; times are in seconds',
    query: z.object(filters),
    reply: page(batch),
  },
  'GET /api/batch/lines': {
    access: 'admin',
    summary: 'List the requests of a batch, with what each has cost',
    query: linesOf,
    reply: page(batchLine),
  },
  'GET /api/batch/self/lines': {
    access: 'user',
    summary: 'List the requests of an own batch, with what each has cost',
    query: linesOf,
    reply: page(batchLine),
  },
  'GET /api/batch/lines/export.csv': {
    access: 'admin',
    summary: 'Export the requests of a batch as CSV; recorded in the audit log',
    query: exported,
    reply: z.string(),
    text: linesFile,
  },
  'GET /api/batch/self/lines/export.csv': {
    access: 'user',
    summary: 'Export the requests of an own batch as CSV',
    query: exported,
    reply: z.string(),
    text: linesFile,
  },
  'POST /api/batch/self/cancel': {
    access: 'user',
    summary: 'Cancel an own batch that is running; what has run is charged',
    body: z.object({ batch_id: z.string().max(100) }),
    reply: z.null(),
  },
})
