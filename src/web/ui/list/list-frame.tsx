import { ActionIcon, Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useNarrow } from '../../lib/narrow.ts'
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
  const narrow = useNarrow()
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
            {add && <AddButton {...add} isIcon={narrow} />}
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

/** In the head of a narrow window it is its icon alone. */
function AddButton({ label, isIcon = false, onClick }: { label: string; isIcon?: boolean; onClick: () => void }) {
  if (isIcon)
    return (
      <ActionIcon variant="filled" color="sluice" size={36} aria-label={label} onClick={onClick}>
        <IconPlus size={18} />
      </ActionIcon>
    )
  return (
    <Button leftSection={<IconPlus size={16} />} onClick={onClick}>
      {label}
    </Button>
  )
}
