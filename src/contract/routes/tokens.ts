import { z } from 'zod'
import { token, tokenInput, tokenSorts, tokenStatus } from '../entities/token.ts'
import { arrayOrPage, idParams, queryFlag, queryInt, querySort, queryText, zeroBasedPage } from '../envelope.ts'
import { routes } from '../route.ts'

const { page_size: size, ...pageOnly } = zeroBasedPage
const listing = { ...pageOnly, size: size.optional(), page_size: size.optional(), sort: querySort(tokenSorts) }
const filters = { keyword: queryText, token: queryText, status: queryInt, group: queryText }
const status = z.union([z.literal(tokenStatus.enabled), z.literal(tokenStatus.disabled)])

export const tokenRoutes = routes({
  'GET /api/token/': {
    access: 'user',
    summary: 'List own tokens, newest first by default',
    query: z.object(listing),
    reply: arrayOrPage(token),
  },
  'GET /api/token/search': {
    access: 'user',
    summary:
      'Search own tokens by part of the name and of the key, newest first by default, at most 1,000; all of them unless paged=true',
    query: z.object({ ...filters, ...listing }),
    reply: arrayOrPage(token),
  },
  'GET /api/token/export.csv': {
    access: 'user',
    summary: 'Export matching own tokens as CSV without their keys, newest first, with times of the given zone',
    query: z.object({ ...filters, time_zone: queryText }),
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'tokens.csv' },
  },
  'POST /api/token/:id/key': {
    access: 'user',
    summary: 'Get the key of an own token',
    params: idParams,
    reply: z.object({ key: z.string() }),
  },
  'GET /api/token/:id': { access: 'user', summary: 'Get an own token', params: idParams, reply: token },
  'POST /api/token/': {
    access: 'user',
    summary: 'Create a token',
    body: tokenInput.extend({ name: tokenInput.shape.name.meta({ needed: true }) }),
    reply: token,
  },
  'PUT /api/token/': {
    access: 'user',
    summary: 'Update a token; with status_only only its status',
    query: z.object({ status_only: queryFlag.optional() }),
    // Clients send a read-only status (expired, exhausted) back without reading it: it means unchanged.
    body: tokenInput.extend({
      id: z.int().positive(),
      status: status.optional().catch(undefined),
    }),
    reply: token,
  },
  'DELETE /api/token/:id': { access: 'user', summary: 'Delete a token', params: idParams, reply: z.null() },
  'POST /api/token/batch': {
    access: 'user',
    summary: 'Enable, disable or delete several own tokens; returns the number changed',
    body: z.object({ ids: z.array(z.int().positive()).min(1).max(1000), action: z.enum(['enable', 'disable', 'delete']) }),
    reply: z.int(),
  },
})
