import { Button, Skeleton } from '@mantine/core'
import { IconDownload, IconExternalLink } from '@tabler/icons-react'
import { lazy, Suspense, useState } from 'react'
import type { Drawing } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { CopyButton } from '../../ui/view/copy-text.tsx'
import styles from './tasks.module.css'
import { texts } from './texts.ts'

const PictureViewer = lazy(async () => ({ default: (await import('../../ui/view/picture-viewer.tsx')).PictureViewer }))

/** The image of a drawing, its prompt, and its download. */
export function PictureDialog({ row, onClose }: { row: Drawing; onClose: () => void }) {
  const say = useText(texts)
  const [failed, setFailed] = useState(false)
  const { mj_id: id, preview_url: url } = row
  return (
    <Dialog
      title={say('pictureOf', { id })}
      size="xl"
      onClose={onClose}
      footer={
        <div className={styles.links}>
          <Button
            component="a"
            href={url}
            target="_blank"
            rel="noreferrer"
            variant="default"
            leftSection={<IconExternalLink size={16} />}
          >
            {say('openPicture')}
          </Button>
          <Button component="a" href={url} download={`${id}.png`} variant="default" leftSection={<IconDownload size={16} />}>
            {say('download')}
          </Button>
        </div>
      }
    >
      {failed ? (
        <Notice kind="warn">{say('pictureFailed')}</Notice>
      ) : (
        <>
          <Suspense fallback={<Skeleton height="min(68vh, 46rem)" />}>
            <PictureViewer src={url} alt={row.prompt || say('pictureOf', { id })} onError={() => setFailed(true)} />
          </Suspense>
          {row.prompt && (
            <p className={styles.caption} lang="">
              {row.prompt} <CopyButton text={row.prompt} label={say('prompt')} />
            </p>
          )}
        </>
      )}
    </Dialog>
  )
}
