import { z } from 'zod'
import { routes } from '../route.ts'
import { status } from '../status.ts'

export const siteRoutes = routes({
  'GET /api/status': { access: 'public', summary: 'Get the public settings and state of this site', reply: status },
  'GET /api/status/test': {
    access: 'admin',
    summary: 'Whether the server and its database answer',
    reply: z.null(),
    extra: z.object({ message: z.string() }),
  },
  'GET /api/notice': { access: 'public', summary: 'Get the announcement', reply: z.string() },
  'GET /api/about': { access: 'public', summary: 'Get the content of the about page', reply: z.string() },
  'GET /api/home_page_content': { access: 'public', summary: 'Get the content of the home page', reply: z.string() },
})
