import { locked } from '../../base/db/locked.ts'
import { background } from '../../base/lib/log/logger.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'

interface AccessTimes {
  /** Remembers that a token was used just now. */
  note(tokenId: number): void
  /** Writes the remaining times. */
  close(): Promise<void>
}

const gatherMs = 5_000
const rowsPerUpdateMax = 1_000

/**
 * Writes `accessed_time` of the used tokens, some seconds later and all in one statement. The time is information for the owner only:
 * a locked row is left out, and a killed process loses the last seconds.
 */
export function openAccessTimes(core: Core): AccessTimes {
  const used = new Set<number>()
  let timer: NodeJS.Timeout | undefined

  async function write(): Promise<void> {
    const ids = [...used]
    used.clear()
    timer = undefined
    const accessed_time = seconds(core.now())
    for (let start = 0; start < ids.length; start += rowsPerUpdateMax) {
      const some = ids.slice(start, start + rowsPerUpdateMax)
      const rows = locked(core, core.db.selectFrom('tokens').select('id').where('id', 'in', some).orderBy('id'))
      const free = core.database.dialect === 'postgres' ? rows.skipLocked() : rows
      await core.db.updateTable('tokens').set({ accessed_time }).where('id', 'in', free).execute()
    }
  }

  return {
    note(tokenId) {
      used.add(tokenId)
      timer ??= setTimeout(() => background(core.logger, 'access times', write()), gatherMs).unref()
    },
    close() {
      clearTimeout(timer)
      return write()
    },
  }
}
