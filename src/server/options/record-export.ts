import { recordAudit } from './audit.ts'
import type { Caller, Core } from './core.ts'

/** Records an export of other users' rows and its filters, before the first row is sent. */
export async function recordExport(
  core: Core,
  caller: Caller,
  { action, target, asked }: { action: string; target: string; asked: object },
): Promise<void> {
  const named = Object.fromEntries(Object.entries(asked).filter(([, value]) => value))
  const entry = { caller, action, target, after: JSON.stringify(named) }
  await core.db.transaction().execute((within) => recordAudit(core, within, entry))
}
