import type { Core } from '../options/core.ts'
import { type Context, requireCaller } from './context.ts'

/**
 * Searches the log for the caller when it is their turn, apart from the connections that requests use. `filter` is what is asked for,
 * without the page: a newer search of the same route and filter cancels the older one.
 */
export function searching<Result>(context: Context, filter: object, search: (core: Core) => Promise<Result>): Promise<Result> {
  const { app, left, route } = context
  const asked = { userId: requireCaller(context).id, filter: `${route} ${JSON.stringify(filter)}`, left }
  return app.searches.run(asked, (db) => search({ ...app, db }))
}

/** For files, which are read in pieces as fast as they are taken: apart from requests too, and as long as it takes. */
export function reading({ app }: Context): Core {
  return { ...app, db: app.reader.queries() }
}
