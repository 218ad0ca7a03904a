import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { PageHeader } from '../page/page-header.tsx'
import { FileButton, type ListFile } from './list-file.tsx'
import { ListTable, type ListTableProps } from './list-table.tsx'

interface ListFrameProps<Row> extends Omit<ListTableProps<Row>, 'label'> {
  readonly title: string
  readonly description?: ReactNode
  /** Buttons that this list alone has. */
  readonly actions?: ReactNode
  readonly file?: ListFile
  /** The action that adds a row; an empty list offers it too, labelled `first`. */
  readonly add?: { readonly label: string; readonly onClick: () => void; readonly first?: string }
  /** Between the head and the list. */
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
