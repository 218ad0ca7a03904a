import { IconPhoto } from '@tabler/icons-react'
import { useState } from 'react'
import { useText } from '../lib/i18n.ts'
import styles from './prose.module.css'
import { texts } from './texts.ts'

/** An image of this site, or of another once the reader asked for it: loading it tells the other site who reads what. */
export function MarkdownImage({ address, alt }: { address: string; alt: string }) {
  const say = useText(texts)
  const [wanted, setWanted] = useState(false)
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
