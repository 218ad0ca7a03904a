import { Button } from '@mantine/core'
import { IconRadar2 } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { texts } from './texts.ts'

const RecordingDialog = lazy(async () => ({ default: (await import('./recording-dialog.tsx')).RecordingDialog }))

/** The button that opens the recording of a call. */
export function OpenRecording({ requestId }: { requestId: string }) {
  const say = useText(texts)
  const [opened, setOpened] = useState(false)
  return (
    <div>
      <Button size="xs" variant="light" leftSection={<IconRadar2 size={15} />} onClick={() => setOpened(true)}>
        {say('open')}
      </Button>
      {opened && (
        <Suspense>
          <RecordingDialog requestId={requestId} onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </div>
  )
}
