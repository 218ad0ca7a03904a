import type { QueryClient } from '@tanstack/react-query'
import { decodeOption } from '../../../contract/options/codec.ts'
import type { Options } from '../../../contract/options/define.ts'
import { sections } from '../../../contract/options/index.ts'
import { localOf, textOf } from '../../lib/i18n.ts'
import { invalidate } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { confirm } from '../../ui/dialog/confirm.tsx'
import type { Drafts, FieldValues } from './drafts.ts'
import { saveOptions } from './save-options.ts'
import { texts } from './texts.ts'

const options: Options = Object.assign({}, ...sections.map((section) => section.options))

/** Saves the drafts of all tabs if they are valid, reports the result, and keeps the refused ones with their errors. */
export async function saveDrafts(drafts: Drafts, client: QueryClient): Promise<void> {
  const { values } = drafts
  const wrong = faultsOf(values)
  if (Object.keys(wrong).length > 0) {
    drafts.setErrors(wrong)
    return toast.error(withNames('checkInput', wrong))
  }

  if (values.PasswordLoginEnabled === 'false' && !(await confirmPasswordLoginOff())) return

  const { saved, refused } = await saveOptions(options, values)
  await invalidate(client, ['GET /api/option/', 'GET /api/option/secrets', 'GET /api/status', 'GET /api/system/'])
  drafts.drop(saved)
  drafts.setErrors(refused)
  if (Object.keys(refused).length > 0) toast.error(withNames(saved.length > 0 ? 'partlyFailed' : 'failed', refused))
  else if (saved.length > 0) toast.success(textOf(texts, 'saved'))
}

/** The schemas' errors for the drafts, by key, before anything is sent. */
function faultsOf(drafts: FieldValues): FieldValues {
  const reasons = Object.entries(drafts).map(([key, text]) => {
    const option = options[key]
    const decoded = option && decodeOption(option, text)
    return [key, decoded && 'reason' in decoded ? localOf(decoded.reason) : ''] as const
  })
  return Object.fromEntries(reasons.filter(([, reason]) => reason !== ''))
}

/** The refused options by their labels: their fields may be in another tab. */
function withNames(sentence: 'checkInput' | 'partlyFailed' | 'failed', refused: FieldValues): string {
  const names = Object.keys(refused).map((key) => {
    const option = options[key]
    return option ? localOf(option.label) : key
  })
  return textOf(texts, 'refusedNames', { sentence: textOf(texts, sentence), names: names.join(textOf(texts, 'comma')) })
}

/** Users without another login method, admins too, would be locked out. */
function confirmPasswordLoginOff(): Promise<boolean> {
  return confirm({
    title: textOf(texts, 'passwordLoginOff'),
    body: textOf(texts, 'passwordLoginOffBody'),
    confirmLabel: textOf(texts, 'passwordLoginOffConfirm'),
    danger: true,
  })
}
