import { recordAction } from './audit.ts'
import type { Caller, Core } from './core.ts'

/** Records an export of other users' rows and its filters, before the first row is sent. */
export function recordExport(
  core: Core,
  caller: Caller,
  { action, target, asked }: { action: string; target: string; asked: object },
): Promise<void> {
  const named = Object.fromEntries(Object.entries(asked).filter(([, value]) => value))
  return recordAction(core, { caller, action, target, after: named })
}
