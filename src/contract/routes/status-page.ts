import { z } from 'zod'
import { adminIncident, incidentChange, incidentInput, incidentKinds, incidentUpdateInput } from '../entities/incident.ts'
import { statusPage } from '../entities/status-page.ts'
import { idParams, oneBasedPage, page, querySort, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const kindFilter = queryText.transform((text) => incidentKinds.find((kind) => kind === text))
const openFilter = queryText.transform((text) => (text === 'open' || text === 'ended' ? text : undefined))

export const statusPageRoutes = routes({
  'GET /api/status_page/': {
    access: 'public',
    summary: 'Get the status page: states and days of the models that the reader may use, and incidents',
    cacheSeconds: 20,
    reply: statusPage,
  },
  'GET /status/badge.svg': {
    access: 'public',
    summary: 'A badge with the state of the site, or of a model that guests see; `lang=zh` for Chinese',
    cacheSeconds: 60,
    query: z.object({ model: queryText, group: queryText, lang: queryText }),
    reply: z.string(),
    text: { type: 'image/svg+xml', isEmbedded: true },
  },
  'GET /status/incidents.rss': {
    access: 'public',
    summary: 'Incidents and maintenance that guests see, as RSS; `lang=zh` for Chinese',
    cacheSeconds: 60,
    query: z.object({ lang: queryText }),
    reply: z.string(),
    text: { type: 'application/rss+xml' },
  },
  'GET /api/incident/': {
    access: 'admin',
    summary: 'List incidents and maintenance of the status page, newest first',
    query: z.object({
      ...oneBasedPage,
      keyword: queryText,
      kind: kindFilter,
      state: openFilter,
      sort: querySort(['id', 'starts_at']),
    }),
    reply: page(adminIncident),
  },
  'POST /api/incident/': {
    access: 'admin',
    summary: 'Open an incident, or plan maintenance, with its first update',
    body: incidentInput,
    reply: adminIncident,
  },
  'PUT /api/incident/:id': {
    access: 'admin',
    summary: 'Change title, impact, what it affects and times of an incident',
    params: idParams,
    body: incidentChange,
    reply: adminIncident,
  },
  'POST /api/incident/:id/update': {
    access: 'admin',
    summary: 'Add an update to an incident and set its state',
    params: idParams,
    body: incidentUpdateInput,
    reply: adminIncident,
  },
  'DELETE /api/incident/:id': {
    access: 'admin',
    summary: 'Delete an incident and its updates',
    params: idParams,
    reply: z.null(),
  },
})
