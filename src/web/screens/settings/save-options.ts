import type { Options } from '../../../contract/options/define.ts'
import { ApiError, call } from '../../lib/call.ts'
import { textOf } from '../../lib/i18n.ts'
import { confirm } from '../../ui/dialog/confirm.tsx'
import type { FieldValues } from './drafts.ts'
import { texts } from './texts.ts'

interface SaveResult {
  readonly saved: readonly string[]
  /** Reasons by key. */
  readonly refused: FieldValues
}

/**
 * Saves options one by one in declared order, since one option may need an earlier one. Unconfirmed options are neither saved nor
 * refused.
 */
export async function saveOptions(options: Options, drafts: FieldValues): Promise<SaveResult> {
  const saved: string[] = []
  const refused: Record<string, string> = {}
  for (const key of Object.keys(options)) {
    const value = drafts[key]
    if (value === undefined) continue
    try {
      if (await saveOption(key, value)) saved.push(key)
    } catch (cause) {
      refused[key] = cause instanceof Error ? cause.message : String(cause)
    }
  }
  return { saved, refused }
}

/** Groups in use are removed after the admin has confirmed the consequences. */
async function saveOption(key: string, value: string): Promise<boolean> {
  try {
    await call('PUT /api/option/', { body: { key, value, confirmed: false } })
    return true
  } catch (cause) {
    if (!(cause instanceof ApiError) || cause.code !== 'groups_in_use') throw cause
    const confirmed = await confirm({
      title: textOf(texts, 'groupsInUse'),
      body: cause.message,
      confirmLabel: textOf(texts, 'groupsInUseConfirm'),
      danger: true,
    })
    if (confirmed) await call('PUT /api/option/', { body: { key, value, confirmed } })
    return confirmed
  }
}
