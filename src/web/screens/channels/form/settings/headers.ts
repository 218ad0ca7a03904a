import { headerOverrides } from '../../../../../contract/entities/channel-overrides.ts'
import { explain } from '../../../../../contract/issues.ts'
import type { Text } from '../../../../../contract/text.ts'
import { isJsonObject, parseJson } from '../../../../lib/json.ts'

/** Headers that a channel sends or removes, as rows and as the channel stores them. */
export interface HeaderDraft {
  readonly name: string
  readonly value: string
  readonly removes: boolean
}

export const newHeader: HeaderDraft = { name: '', value: '', removes: false }

/** Undefined when the text is not a JSON object of strings and nulls. */
export function readHeaders(text: string): readonly HeaderDraft[] | undefined {
  if (text.trim() === '') return []
  const headers = parseJson(text)
  if (!isJsonObject(headers)) return undefined
  const entries = Object.entries(headers)
  if (entries.some(([, value]) => typeof value !== 'string' && value !== null)) return undefined
  return entries.map(([name, value]) => ({ name, value: value === null ? '' : String(value), removes: value === null }))
}

/** An empty row is ignored. A repeated name is written with a number, so that the schema refuses it. */
export function writeHeaders(drafts: readonly HeaderDraft[]): string {
  const entries = drafts.flatMap((draft, index) =>
    draft.name === '' && draft.value === '' ? [] : [[draft.name, isHeaderTwice(drafts, index) ? 0 : sentValue(draft)]],
  )
  return entries.length === 0 ? '' : JSON.stringify(Object.fromEntries(entries))
}

export function isHeaderTwice(drafts: readonly HeaderDraft[], index: number): boolean {
  const header = drafts[index]?.name.toLowerCase()
  return header !== '' && drafts.some(({ name }, at) => at < index && name.toLowerCase() === header)
}

/** The contract's error for the name or the value. */
export function faultOfHeader(draft: HeaderDraft): { field: 'name' | 'value'; reason: Text } | undefined {
  const [issue] = headerOverrides.safeParse({ [draft.name]: sentValue(draft) }).error?.issues ?? []
  if (!issue) return undefined
  const inner = issue.code === 'invalid_key' ? (issue.issues[0] ?? issue) : issue
  const isName = issue.code === 'invalid_key' || issue.path.length === 0
  return { field: isName ? 'name' : 'value', reason: explain({ issues: [{ ...inner, path: [] }] }) }
}

function sentValue({ value, removes }: HeaderDraft): string | null {
  return removes ? null : value
}
