import type { Options } from '../../../contract/options/define.ts'
import { call } from '../../lib/call.ts'
import type { FieldValues } from '../../ui/fields-form.tsx'

export interface SaveResult {
  readonly saved: readonly string[]
  /** Reasons by key. */
  readonly refused: FieldValues
}

/** Saves one by one in the declared order, since one option may need another that stands before it. */
export async function saveOptions(options: Options, drafts: FieldValues): Promise<SaveResult> {
  const saved: string[] = []
  const refused: Record<string, string> = {}
  for (const key of Object.keys(options)) {
    const value = drafts[key]
    if (value === undefined) continue
    try {
      await call('PUT /api/option/', { body: { key, value } })
      saved.push(key)
    } catch (cause) {
      refused[key] = cause instanceof Error ? cause.message : String(cause)
    }
  }
  return { saved, refused }
}
