import { lazy, Suspense, useState } from 'react'
import type { User } from '../../../contract/entities/user.ts'
import { useText } from '../../lib/i18n.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { useFormRoute } from '../../ui/form/use-form-route.ts'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { headTexts } from './head-texts.ts'

const UserList = lazy(async () => ({ default: (await import('./list.tsx')).UserList }))
const AddForm = lazy(async () => ({ default: (await import('./add-form.tsx')).AddForm }))
const EditForm = lazy(async () => ({ default: (await import('./edit-form.tsx')).EditForm }))
const QuotaDialog = lazy(async () => ({ default: (await import('./quota-dialog.tsx')).QuotaDialog }))

/**
 * The list of users, and the form of one in a drawer. A form opened by its own address is shown alone: the list behind it is loaded
 * when it closes.
 */
export function Screen() {
  const say = useText(headTexts)
  const { subject, isAlone, add, edit, close } = useFormRoute('/user')
  const [quotaOf, setQuotaOf] = useState<User>()

  const header = <PageHeader title={say('title')} description={say('description')} />

  return (
    <>
      {isAlone ? (
        header
      ) : (
        <Suspense fallback={header}>
          <UserList onAdd={add} onEdit={edit} onQuota={setQuotaOf} />
        </Suspense>
      )}
      <SideDrawer
        subject={subject}
        title={({ id }) => (id === undefined ? say('addTitle') : say('editTitle', { id }))}
        onClose={close}
      >
        {({ id }) => (id === undefined ? <AddForm onDone={close} /> : <EditForm id={id} onDone={close} onQuota={setQuotaOf} />)}
      </SideDrawer>
      <Suspense>{quotaOf && <QuotaDialog user={quotaOf} onClose={() => setQuotaOf(undefined)} />}</Suspense>
    </>
  )
}
