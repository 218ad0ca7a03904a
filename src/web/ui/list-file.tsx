import { Button, Tooltip } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { csvText } from '../lib/csv.ts'
import { download, saveFile } from '../lib/download.ts'
import { useText } from '../lib/i18n.ts'
import type { ReadLine } from '../lib/query.ts'
import { formatTime, timeZone, timeZoneName } from '../lib/times.ts'
import { toast } from '../lib/toast.ts'
import { type Listing, rowsOf } from './listing.ts'
import { texts } from './texts.ts'

/** The file of all that the filters of a list leave: one that the server sends, or made of the rows page by page. */
export type ListFile<Row> = { readonly name: string; readonly hint?: string } & (
  | { readonly line: ReadLine; readonly query: Record<string, unknown>; readonly hasSecret?: boolean }
  | {
      readonly fields: readonly (keyof Row & string)[]
      /** Reads a page, counted from 1. */
      readonly read: (page: number, size: number) => Promise<Listing<Row>>
    }
)

export function FileButton<Row>(file: ListFile<Row>) {
  const say = useText(texts)
  const save = useMutation({
    mutationFn: async () => ('line' in file ? saveFromServer(file) : saveRows(file)),
    onError: toast.failure,
  })
  return (
    <Tooltip label={file.hint ?? say('exportHint')}>
      <Button variant="default" leftSection={<IconDownload size={16} />} loading={save.isPending} onClick={() => save.mutate()}>
        {say('export')}
      </Button>
    </Tooltip>
  )
}

function saveFromServer<Row>({ line, name, query, hasSecret }: Extract<ListFile<Row>, { line: unknown }>): void {
  download(line, name, { ...query, time_zone: timeZone() }, { hasSecret })
}

const rowsAtOnce = 100

async function saveRows<Row>({ name, fields, read }: Extract<ListFile<Row>, { read: unknown }>): Promise<void> {
  const lines: (string | number)[][] = [fields.map((field) => (isTime(field) ? `${field} (${timeZoneName()})` : field))]
  for (let page = 1; ; page++) {
    const rows = rowsOf(await read(page, rowsAtOnce))
    lines.push(...rows.map((row) => fields.map((field) => textOfField(field, row[field]))))
    if (rows.length < rowsAtOnce) break
  }
  saveFile(name, new Blob([csvText(lines)], { type: 'text/csv;charset=utf-8' }))
}

/** Fields that are moments; others of such names are spans. */
const isTime = (field: string): boolean => /^(created|accessed|expired|completed|test)_time$/.test(field)

function textOfField(field: string, value: unknown): string | number {
  if (typeof value !== 'number') return String(value ?? '')
  if (isTime(field)) return value > 0 ? formatTime(value) : ''
  return value
}
