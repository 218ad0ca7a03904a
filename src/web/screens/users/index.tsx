import { Button } from '@mantine/core'
import { IconPlus, IconUsers } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { type User, userStatus } from '../../../contract/entities/user.ts'
import { useText } from '../../lib/i18n.ts'
import { useSession } from '../../lib/session.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { DrawerFormWaiting } from '../../ui/drawer-form.tsx'
import type { EmptyProps } from '../../ui/empty.tsx'
import { useFilteredEmpty } from '../../ui/filtered-empty.tsx'
import { ListFilters } from '../../ui/list-filters.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SideDrawer } from '../../ui/side-drawer.tsx'
import { Actions } from './actions.tsx'
import { useColumns } from './columns.tsx'
import { texts } from './texts.ts'
import { useUserDrawer } from './use-user-drawer.ts'
import { useFilters, useUserList } from './use-user-list.ts'

const AddForm = lazy(async () => ({ default: (await import('./add-form.tsx')).AddForm }))
const EditForm = lazy(async () => ({ default: (await import('./edit-form.tsx')).EditForm }))
const QuotaDialog = lazy(async () => ({ default: (await import('./quota-dialog.tsx')).QuotaDialog }))

export function Screen() {
  const say = useText(texts)
  const { list, page, onPage, filters, sort, onSort } = useUserList()
  const drawer = useUserDrawer()
  const [quotaOf, setQuotaOf] = useState<User>()
  const edit = useEdit(drawer.edit)
  const columns = useColumns()

  return (
    <>
      <PageHeader
        title={say('title')}
        description={say('description')}
        actions={
          <Button leftSection={<IconPlus size={16} />} onClick={drawer.add}>
            {say('add')}
          </Button>
        }
      />
      <DataTable
        label={say('title')}
        name="users"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        page={page}
        onPage={onPage}
        sort={sort}
        onSort={onSort}
        rowActions={(user) => <Actions user={user} onEdit={() => edit(user.id)} onQuota={() => setQuotaOf(user)} />}
        isMuted={({ status, DeletedAt }) => status !== userStatus.active || DeletedAt !== null}
        empty={useEmpty({ filtered: filters.filtered || page > 1, onAdd: drawer.add, onReset: filters.onReset })}
        toolbar={<ListFilters filters={useFilters()} {...filters} />}
      />
      <SideDrawer
        subject={drawer.subject}
        title={({ id }) => (id === undefined ? say('addTitle') : say('editTitle', { id }))}
        onClose={drawer.close}
      >
        {({ id }) => (
          <Suspense fallback={<DrawerFormWaiting />}>
            {id === undefined ? (
              <AddForm onDone={drawer.close} />
            ) : (
              <EditForm id={id} onDone={drawer.close} onQuota={setQuotaOf} />
            )}
          </Suspense>
        )}
      </SideDrawer>
      {quotaOf && (
        <Suspense>
          <QuotaDialog user={quotaOf} onClose={() => setQuotaOf(undefined)} />
        </Suspense>
      )}
    </>
  )
}

/** The own account has a page of its own, where the current password is asked for. */
function useEdit(openDrawer: (id: number) => void): (id: number) => void {
  const me = useSession()
  const navigate = useNavigate()
  return (id) => (id === me?.id ? void navigate({ to: '/user/edit' }) : openDrawer(id))
}

interface EmptyInput {
  readonly filtered: boolean
  readonly onAdd: () => void
  readonly onReset: () => void
}

function useEmpty({ filtered, onAdd, onReset }: EmptyInput): EmptyProps {
  const say = useText(texts)
  const nothingMatches = useFilteredEmpty(onReset)
  if (filtered) return nothingMatches
  return {
    title: say('emptyTitle'),
    hint: say('emptyHint'),
    icon: <IconUsers />,
    action: (
      <Button leftSection={<IconPlus size={16} />} onClick={onAdd}>
        {say('add')}
      </Button>
    ),
  }
}
