import { z } from 'zod'
import { token, tokenInput, tokenStatus } from '../entities/token.ts'
import { arrayOrPage, idParams, queryFlag, queryText, zeroBasedPage } from '../envelope.ts'
import { routes } from '../route.ts'

const { page_size, ...pageOnly } = zeroBasedPage
const status = z.union([z.literal(tokenStatus.enabled), z.literal(tokenStatus.disabled)])

export const tokenRoutes = routes({
  'GET /api/token/': {
    access: 'user',
    summary: 'Own tokens, newest first',
    query: z.object({ ...pageOnly, size: page_size.optional(), page_size: page_size.optional() }),
    reply: arrayOrPage(token),
  },
  'GET /api/token/search': {
    access: 'user',
    summary: 'Own tokens by part of the name and of the key',
    query: z.object({ keyword: queryText, token: queryText, status: queryText, group: queryText, ...pageOnly, size: page_size.optional() }),
    reply: arrayOrPage(token),
  },
  'GET /api/token/:id': { access: 'user', summary: 'One own token', params: idParams, reply: token },
  'POST /api/token/': { access: 'user', summary: 'Make a token', body: tokenInput, reply: token },
  'PUT /api/token/': {
    access: 'user',
    summary: 'Change a token; with status_only only its status',
    query: z.object({ status_only: queryFlag.optional() }),
    body: z.union([
      tokenInput.extend({ id: z.int().positive(), status: status.optional().catch(undefined) }),
      z.object({ id: z.int().positive(), status }),
    ]),
    reply: token,
  },
  'DELETE /api/token/:id': { access: 'user', summary: 'Delete a token', params: idParams, reply: z.null() },
  'POST /api/token/batch': {
    access: 'user',
    summary: 'Enable, disable or delete several own tokens; answers how many changed',
    body: z.object({ ids: z.array(z.int().positive()).min(1).max(1000), action: z.enum(['enable', 'disable', 'delete']) }),
    reply: z.int(),
  },
})
