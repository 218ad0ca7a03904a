import { useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import type { QualityCheck } from '../../../contract/entities/quality-check.ts'
import { useText } from '../../lib/i18n.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { CheckList } from './check-list.tsx'
import { texts } from './texts.ts'

const CheckView = lazy(async () => ({ default: (await import('./check-view.tsx')).CheckView }))
const CheckForm = lazy(async () => ({ default: (await import('./check-form.tsx')).CheckForm }))

/** The list of quality checks, or one of them with its results; the form of one in a drawer. */
export function Screen() {
  const say = useText(texts)
  const { id }: { id?: string } = useParams({ strict: false })
  const [drawer, setDrawer] = useState<{ readonly check: QualityCheck | undefined }>()
  const close = () => setDrawer(undefined)
  const edit = (check: QualityCheck) => setDrawer({ check })
  return (
    <>
      {id === undefined ? (
        <CheckList onAdd={() => setDrawer({ check: undefined })} onEdit={edit} />
      ) : (
        <Suspense fallback={<PageHeader title={say('title')} />}>
          <CheckView key={id} id={Number(id)} onEdit={edit} />
        </Suspense>
      )}
      <SideDrawer wide subject={drawer} title={({ check }) => say(check ? 'editTitle' : 'add')} onClose={close}>
        {({ check }) => <CheckForm check={check} onDone={close} />}
      </SideDrawer>
    </>
  )
}
