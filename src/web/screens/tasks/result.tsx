import { Button } from '@mantine/core'
import { IconFileText, IconPlayerPlay } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { Task } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { clipsOf } from './clips.ts'
import { texts } from './texts.ts'

const ClipsDialog = lazy(async () => ({ default: (await import('./clips-dialog.tsx')).ClipsDialog }))

/** Opens a task's result, if there is one: songs to play, or lyrics to read. */
export function ResultCell({ row }: { row: Task }) {
  const say = useText(texts)
  const [open, setOpen] = useState(false)
  const clips = clipsOf(row.data)
  const isSound = clips.some(({ audio, video }) => audio !== '' || video !== '')
  const Icon = isSound ? IconPlayerPlay : IconFileText
  return (
    <>
      <Button size="compact-sm" variant="default" leftSection={<Icon size={15} stroke={1.6} />} onClick={() => setOpen(true)}>
        {say(isSound ? 'play' : 'lyrics')}
      </Button>
      {open && (
        <Suspense>
          <ClipsDialog id={row.task_id} clips={clips} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
