import { decodeOption } from '../../../contract/options/codec.ts'
import type { Options } from '../../../contract/options/define.ts'
import { localOf } from '../../lib/i18n.ts'
import type { FieldValues } from '../../ui/fields-form.tsx'

/** The schemas' errors for the drafts, by key, before anything is sent. */
export function checkDrafts(options: Options, drafts: FieldValues): FieldValues {
  const reasons = Object.entries(drafts).map(([key, text]) => {
    const option = options[key]
    const decoded = option && decodeOption(option, text)
    return [key, decoded && 'reason' in decoded ? localOf(decoded.reason) : ''] as const
  })
  return Object.fromEntries(reasons.filter(([, reason]) => reason !== ''))
}
