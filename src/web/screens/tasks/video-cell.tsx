import { UnstyledButton } from '@mantine/core'
import { lazy, Suspense, useState } from 'react'
import type { Video } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { ClipStill } from '../../ui/view/clip-still.tsx'
import { texts } from './texts.ts'

const VideoDialog = lazy(async () => ({ default: (await import('./video-dialog.tsx')).VideoDialog }))

/** The still of a video, which opens its clips over the page. */
export function VideoCell({ row }: { row: Video }) {
  const say = useText(texts)
  const [open, setOpen] = useState(false)
  return (
    <>
      <UnstyledButton aria-label={say('watch', { id: row.video_id })} onClick={() => setOpen(true)}>
        <ClipStill path={row.has_ranges ? row.clips[0] : undefined} />
      </UnstyledButton>
      {open && (
        <Suspense>
          <VideoDialog row={row} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
