import { Button } from '@mantine/core'
import { IconPhoto } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { Drawing } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { texts } from './texts.ts'

const PictureDialog = lazy(async () => ({ default: (await import('./picture-dialog.tsx')).PictureDialog }))

/** Opens the image of a drawing over the page, always loaded through this site. */
export function PictureCell({ row }: { row: Drawing }) {
  const say = useText(texts)
  const [open, setOpen] = useState(false)
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<IconPhoto size={15} stroke={1.6} />}
        onClick={() => setOpen(true)}
      >
        {say('showPicture')}
      </Button>
      {open && (
        <Suspense>
          <PictureDialog row={row} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
