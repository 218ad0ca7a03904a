import { IconPhoto } from '@tabler/icons-react'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { PictureThumb } from '../view/picture-thumb.tsx'
import styles from './prose.module.css'

/** A data URL of an image. SVG is a document, and excluded. */
export const isDataUrlPicture = (address: string): boolean => /^data:image\/(?:png|jpeg|gif|webp);base64,/i.test(address)

/** An image of the text or of this site, or of another site once the reader requests it: loading reveals the reader to that site. */
export function MarkdownImage({ address, alt }: { address: string; alt: string }) {
  const say = useText(texts)
  const [wanted, setWanted] = useState(false)
  if (isDataUrlPicture(address)) return <PictureThumb src={address} alt={alt || say('picture')} />
  const url = URL.canParse(address, location.href) ? new URL(address, location.href) : undefined
  if (!url || address === '') return <>{alt}</>
  if (wanted || url.origin === location.origin) {
    return <img src={url.href} alt={alt} loading="lazy" referrerPolicy="no-referrer" />
  }
  return (
    <button type="button" className={styles.image} title={url.href} onClick={() => setWanted(true)}>
      <IconPhoto size={18} stroke={1.6} aria-hidden="true" />
      <span>{alt || say('imageFrom', { host: url.host })}</span>
      <span className={styles.imageHint}>
        {say('loadImage')} · {url.host}
      </span>
    </button>
  )
}
