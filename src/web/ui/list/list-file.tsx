import { IconDownload } from '@tabler/icons-react'
import { download } from '../../lib/download.ts'
import { useText } from '../../lib/i18n.ts'
import type { ReadLine } from '../../lib/query.ts'
import { timeZone } from '../../lib/times.ts'
import { HeadButton } from '../page/head-button.tsx'
import { texts } from '../texts.ts'

/** The file of all rows that match the filters of a list, as the server sends it. */
export interface ListFile {
  readonly name: string
  readonly hint?: string
  readonly line: ReadLine
  /** For the placeholders of the path of the line. */
  readonly params?: Record<string, unknown>
  readonly query: Record<string, unknown>
  readonly hasSecret?: boolean
}

export function FileButton({ name, hint, line, params, query, hasSecret }: ListFile) {
  const say = useText(texts)
  const save = () => download(line, name, { ...query, time_zone: timeZone() }, { hasSecret, params })
  return <HeadButton label={say('export')} icon={IconDownload} hint={hint ?? say('exportHint')} onClick={save} />
}
