import type { Video } from '../../../contract/entities/task.ts'
import { useText } from '../../lib/i18n.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { ClipPlayers } from '../../ui/page/clip-player.tsx'
import { CopyButton } from '../../ui/view/copy-text.tsx'
import styles from './tasks.module.css'
import { texts } from './texts.ts'

/** The clips of a video and its prompt. */
export function VideoDialog({ row, onClose }: { row: Video; onClose: () => void }) {
  const say = useText(texts)
  return (
    <Dialog title={row.model} size="xl" onClose={onClose}>
      <ClipPlayers id={row.video_id} paths={row.clips} />
      {row.prompt && (
        <p className={styles.caption} lang="">
          {row.prompt} <CopyButton text={row.prompt} label={say('prompt')} />
        </p>
      )}
    </Dialog>
  )
}
