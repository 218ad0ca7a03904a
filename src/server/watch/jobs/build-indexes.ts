import { buildIndexes } from '../../base/db/online-indexes.ts'
import type { Job } from './runner.ts'

const logEveryMs = 10_000

/** Builds the indexes of large tables that a migration has left out; on PostgreSQL alone. */
export const buildLargeIndexes: Job = {
  name: 'build-indexes',
  label: { zh: '建立大表的索引', en: 'Build indexes of large tables' },
  on: 'one-node',
  onDemand: true,
  everyMs: () => 10 * 60_000,
  deadlineMs: 24 * 3_600_000,
  async run({ database, logger }, signal, tell) {
    if (database.dialect === 'sqlite') return 'none is missing'
    let loggedMs = Number.NEGATIVE_INFINITY
    const built = await buildIndexes(database, signal, (detail) => {
      tell(detail)
      if (performance.now() - loggedMs < logEveryMs) return
      loggedMs = performance.now()
      logger.info({ detail }, 'an index of a large table is being built')
    })
    return built > 0 ? `built ${built}` : 'none is missing'
  },
}
