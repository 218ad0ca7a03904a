import { lazy, Suspense, useState } from 'react'
import type { Channel } from '../../../contract/entities/channel.ts'
import { useText } from '../../lib/i18n.ts'
import { SideDrawer } from '../../ui/dialog/side-drawer.tsx'
import { useFormRoute } from '../../ui/form/use-form-route.ts'
import { PageHeader } from '../../ui/page/page-header.tsx'
import { headTexts } from './head-texts.ts'

const ChannelList = lazy(async () => ({ default: (await import('./list.tsx')).ChannelList }))
const ChannelForm = lazy(async () => ({ default: (await import('./form/channel-form.tsx')).ChannelForm }))
const KeysDialog = lazy(async () => ({ default: (await import('./keys/keys-dialog.tsx')).KeysDialog }))

/**
 * The list of channels, and the form of one in a drawer. A form opened by its own address is shown alone: the list behind it is loaded
 * when it closes.
 */
export function Screen() {
  const say = useText(headTexts)
  const { subject, isAlone, add, edit, close } = useFormRoute('/channel')
  const [keysOf, setKeysOf] = useState<Channel>()
  const [added, setAdded] = useState<readonly number[]>([])

  function done(ids: readonly number[]): void {
    if (ids.length > 0) setAdded(ids)
    close()
  }

  const header = <PageHeader title={say('title')} description={say('description')} />

  return (
    <>
      {isAlone ? (
        header
      ) : (
        <Suspense fallback={header}>
          <ChannelList added={added} onAdd={add} onEdit={edit} onKeys={setKeysOf} />
        </Suspense>
      )}
      <SideDrawer wide subject={subject} title={({ id }) => say(id === undefined ? 'addTitle' : 'editTitle')} onClose={close}>
        {({ id }) => <ChannelForm id={id} onKeys={setKeysOf} onDone={done} />}
      </SideDrawer>
      <Suspense>{keysOf && <KeysDialog channel={keysOf} onClose={() => setKeysOf(undefined)} />}</Suspense>
    </>
  )
}
