import type { NewRow } from '../../base/db/schema.ts'
import type { Core } from '../../base/options/core.ts'

type LogRow = NewRow<'logs'>

const rowsMax = 10_000

/**
 * Log rows that the database refused when their charges were committed. The charge is valid without its row; writing the row is retried from
 * the charge until it succeeds.
 */
export class UnloggedCharges {
  readonly #core: Core
  #rows: LogRow[] = []
  #isWriting = false

  constructor(core: Core) {
    this.#core = core
  }

  add(row: LogRow): void {
    this.#core.logger.error({ request: row.request_id, quota: row.quota }, 'a charge stands without its log row')
    if (this.#rows.length < rowsMax) this.#rows.push(row)
  }

  /** Tries once for each row. */
  async write(): Promise<void> {
    if (this.#isWriting) return
    this.#isWriting = true
    try {
      const waiting = this.#rows.splice(0)
      for (const row of waiting) if (!(await this.#insert(row)) && !(await this.#insert(plain(row)))) this.#rows.push(row)
    } finally {
      this.#isWriting = false
    }
  }

  /** Rows that are still missing. */
  get left(): readonly LogRow[] {
    return this.#rows
  }

  #insert(row: LogRow): Promise<boolean> {
    const inserted = this.#core.db.insertInto('logs').values(row).execute()
    return inserted.then(
      () => true,
      () => false,
    )
  }
}

/** The charge as the ledger has it: user, amount, time and request. */
function plain({ user_id, token_id, created_at, type, quota, channel_id, request_id }: LogRow): LogRow {
  return { user_id, token_id, created_at, type, quota, channel_id, request_id, other: '{"rebuilt":true}' }
}
