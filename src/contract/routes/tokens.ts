import { z } from 'zod'
import { token, tokenInput, tokenSorts, tokenStatus } from '../entities/token.ts'
import { arrayOrPage, idParams, queryFlag, queryInt, querySort, queryText, zeroBasedPage } from '../envelope.ts'
import { organisationAccess } from '../organisation-roles.ts'
import { routes } from '../route.ts'

const { page_size: size, ...pageOnly } = zeroBasedPage
const listing = { ...pageOnly, size: size.optional(), page_size: size.optional(), sort: querySort(tokenSorts) }
const filters = { keyword: queryText, token: queryText, status: queryInt, group: queryText }
const status = z.union([z.literal(tokenStatus.enabled), z.literal(tokenStatus.disabled)])

export const tokenRoutes = routes({
  'GET /api/token/': {
    access: 'user',
    roles: organisationAccess.callers,
    summary: 'List own tokens, newest first by default',
    query: z.object(listing),
    reply: arrayOrPage(token),
  },
  'GET /api/token/search': {
    access: 'user',
    roles: organisationAccess.callers,
    summary:
      'Search own tokens by part of the name and of the key, newest first by default, at most 1,000; all of them unless paged=true',
    query: z.object({ ...filters, ...listing }),
    reply: arrayOrPage(token),
  },
  'GET /api/token/export.csv': {
    access: 'user',
    roles: organisationAccess.callers,
    summary: 'Export matching own tokens as CSV without their keys, newest first, with times of the given zone',
    query: z.object({ ...filters, time_zone: queryText }),
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'tokens.csv' },
  },
  'POST /api/token/:id/key': {
    access: 'user',
    roles: organisationAccess.callers,
    summary: 'Get the key of an own token',
    params: idParams,
    reply: z.object({ key: z.string() }),
  },
  'GET /api/token/:id': {
    access: 'user',
    roles: organisationAccess.callers,
    summary: 'Get an own token',
    params: idParams,
    reply: token,
  },
  'POST /api/token/': {
    access: 'user',
    roles: organisationAccess.callers,
    summary: 'Create a token',
    body: tokenInput.extend({
      name: tokenInput.shape.name.meta({ needed: true }),
      /** The organisation that pays, as the header names it. */
      organisation_id: z.int().positive().optional(),
      /** Of an organisation: whose token it is; the caller's without it, nobody's with 0. */
      member_id: z.int().min(0).optional(),
      /** Of an organisation: the team that it counts for; 0 for none. */
      team_id: z.int().min(0).optional(),
    }),
    reply: token,
  },
  'PUT /api/token/': {
    access: 'user',
    roles: organisationAccess.callers,
    summary: 'Update a token; with status_only only its status',
    query: z.object({ status_only: queryFlag.optional() }),
    // Clients send a read-only status (expired, exhausted) back without reading it: it means unchanged.
    body: tokenInput.extend({
      id: z.int().positive(),
      status: status.optional().catch(undefined),
    }),
    reply: token,
  },
  'POST /api/token/:id/move': {
    access: 'user',
    roles: organisationAccess.callers,
    summary: 'Move a token of an organisation to another member or team; its charges so far stay where they were',
    params: idParams,
    body: z.object({ member_id: z.int().min(0), team_id: z.int().min(0) }),
    reply: token,
  },
  'DELETE /api/token/:id': {
    access: 'user',
    roles: organisationAccess.callers,
    summary: 'Delete a token',
    params: idParams,
    reply: z.null(),
  },
  'POST /api/token/batch': {
    access: 'user',
    roles: organisationAccess.callers,
    summary: 'Enable, disable or delete several own tokens; returns the number changed',
    body: z.object({ ids: z.array(z.int().positive()).min(1).max(1000), action: z.enum(['enable', 'disable', 'delete']) }),
    reply: z.int(),
  },
})
