import { Anchor } from '@mantine/core'
import type { Release } from '../../../contract/entities/system.ts'
import { useText } from '../../lib/i18n.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import styles from './settings.module.css'
import { texts } from './texts.ts'

/** The notes are from an external source: they are shown as plain text, not as markup. */
export function NewRelease({ release: { latest, title, notes, url }, onClose }: { release: Release; onClose: () => void }) {
  const say = useText(texts)
  return (
    <Dialog
      title={say('updateFound', { version: latest })}
      onClose={onClose}
      footer={
        url !== '' && (
          <Anchor href={url} target="_blank" rel="noopener noreferrer">
            {say('updateDetails')}
          </Anchor>
        )
      }
    >
      <strong lang="">{title}</strong>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable */}
      <pre className={styles.notes} tabIndex={0}>
        {notes}
      </pre>
    </Dialog>
  )
}
