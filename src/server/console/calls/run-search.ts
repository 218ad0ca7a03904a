import type { Core } from '../../base/options/core.ts'
import { type Context, requireCaller } from './context.ts'

/**
 * Runs a search of the log for the caller through the search queue, on the reading connections. `filter` is the query without the page: a
 * newer search of the same route and filter cancels the older one.
 */
export function runSearch<Result>(context: Context, filter: object, search: (core: Core) => Promise<Result>): Promise<Result> {
  const { app, disconnected: signal, route } = context
  const request = { userId: requireCaller(context).id, filter: `${route} ${JSON.stringify(filter)}`, signal }
  return app.searches.run(request, (db) => search({ ...app, db }))
}

/** A core on the reading connections, without the queue and without a time limit: for exports, which read in chunks. */
export function readerCore({ app }: Context): Core {
  return { ...app, db: app.reader.queries() }
}
