import type { Handlers } from '../../../contract/route.ts'
import type { statusPageRoutes } from '../../../contract/routes/status-page.ts'
import type { Language } from '../../../contract/text.ts'
import { withoutTrailing } from '../../../contract/trailing.ts'
import { oneBased } from '../../base/db/page.ts'
import type { App } from '../../watch/parts.ts'
import { drawBadge } from '../../watch/status-page/badge.ts'
import { drawFeed } from '../../watch/status-page/feed.ts'
import { changeIncident, deleteIncident, listIncidents, openIncident, updateIncident } from '../../watch/status-page/incidents.ts'
import { viewOf } from '../../watch/status-page/view.ts'
import { type Context, requireCaller } from './context.ts'

export const statusPageHandlers: Handlers<typeof statusPageRoutes, Context> = {
  async 'GET /api/status_page/'({ app, caller }) {
    return viewOf(app, await app.statusSnapshots.read(), caller)
  },

  // Without the caller's permissions, because other sites embed the badge for all their readers.
  async 'GET /status/badge.svg'({ app }, { query: { model, group, lang } }) {
    const page = viewOf(app, await app.statusSnapshots.read(), undefined)
    return pieces(drawBadge(page, { model, group, language: languageOfQuery(lang) }))
  },

  // Without the caller's permissions, because a reader of feeds has none.
  async 'GET /status/incidents.rss'({ app }, { query: { lang } }) {
    const page = viewOf(app, await app.statusSnapshots.read(), undefined)
    const { SystemName: site, ServerAddress } = app.options.current
    return pieces(drawFeed(page, { site, address: withoutTrailing(ServerAddress, '/'), language: languageOfQuery(lang) }))
  },

  async 'GET /api/incident/'({ app }, { query: { p, page_size, ...wanted } }) {
    return { ...(await listIncidents(app, { ...wanted, page: oneBased(p, page_size) })), page: p, page_size }
  },

  'POST /api/incident/': (context, { body }) =>
    shown(context.app, openIncident(context.app, { caller: requireCaller(context), input: body })),

  'PUT /api/incident/:id': (context, { params: { id }, body }) =>
    shown(context.app, changeIncident(context.app, { caller: requireCaller(context), id, change: body })),

  'POST /api/incident/:id/update': (context, { params: { id }, body }) =>
    shown(context.app, updateIncident(context.app, { caller: requireCaller(context), id, input: body })),

  'DELETE /api/incident/:id': (context, { params: { id } }) =>
    shown(context.app, deleteIncident(context.app, { caller: requireCaller(context), id })),
}

/** Updates the page of this node at once after a change. */
async function shown<Result>({ statusSnapshots }: App, changing: Promise<Result>): Promise<Result> {
  const result = await changing
  statusSnapshots.forget()
  return result
}

const languageOfQuery = (lang: string): Language => (lang.startsWith('zh') ? 'zh' : 'en')

async function* pieces(text: string): AsyncGenerator<string> {
  yield text
}
