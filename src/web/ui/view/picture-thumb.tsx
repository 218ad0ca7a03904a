import { UnstyledButton } from '@mantine/core'
import { textOf } from '../../lib/i18n.ts'
import { showDialog } from '../dialog/dialogs.tsx'
import { texts } from '../texts.ts'
import styles from './picture-thumb.module.css'

/** A small picture that opens over the page when it is pressed. Only for addresses that are safe to load at once. */
export function PictureThumb({ src, alt }: { src: string; alt: string }) {
  return (
    <UnstyledButton className={styles.thumb} onClick={() => void showPicture(src, alt)}>
      <img src={src} alt={alt} loading="lazy" />
    </UnstyledButton>
  )
}

/** The viewer is loaded with the first picture that is looked at. */
async function showPicture(src: string, alt: string): Promise<void> {
  const { PictureViewer } = await import('./picture-viewer.tsx')
  await showDialog({
    title: alt,
    wide: true,
    cancelLabel: textOf(texts, 'close'),
    body: <PictureViewer src={src} alt={alt} />,
  })
}
