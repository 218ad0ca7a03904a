import { Button, Tooltip } from '@mantine/core'
import { IconDownload, IconPlus } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { download } from '../lib/download.ts'
import { useText } from '../lib/i18n.ts'
import type { ReadLine } from '../lib/query.ts'
import { ListTable, type ListTableProps } from './list-table.tsx'
import { PageHeader } from './page-header.tsx'
import { texts } from './texts.ts'

export interface ListFrameProps<Row> extends Omit<ListTableProps<Row>, 'label'> {
  readonly title: string
  readonly description?: ReactNode
  /** Buttons that this list alone has. */
  readonly actions?: ReactNode
  /** The file of all that the filters leave. */
  readonly file?: {
    readonly line: ReadLine
    readonly name: string
    readonly query: Record<string, unknown>
    readonly hint?: string
  }
  /** How a row is added; an empty list offers it too, unless it says otherwise. */
  readonly add?: { readonly label: string; readonly onClick: () => void; readonly first?: string }
  /** Stands between the head and the list. */
  readonly children?: ReactNode
}

/** A screen that is a list. */
export function ListFrame<Row extends { readonly id: number }>(props: ListFrameProps<Row>) {
  const { title, description, actions, file, add, empty, children, ...table } = props
  return (
    <>
      <PageHeader
        title={title}
        description={description}
        actions={
          <>
            {actions}
            {file && <FileButton {...file} />}
            {add && <AddButton {...add} />}
          </>
        }
      />
      {children}
      <ListTable
        {...table}
        label={title}
        empty={add ? { action: <AddButton {...add} label={add.first ?? add.label} />, ...empty } : empty}
      />
    </>
  )
}

function AddButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <Button leftSection={<IconPlus size={16} />} onClick={onClick}>
      {label}
    </Button>
  )
}

export function FileButton({ line, name, query, hint }: NonNullable<ListFrameProps<never>['file']>) {
  const say = useText(texts)
  return (
    <Tooltip label={hint ?? say('exportHint')}>
      <Button variant="default" leftSection={<IconDownload size={16} />} onClick={() => download(line, name, query)}>
        {say('export')}
      </Button>
    </Tooltip>
  )
}
