import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { sitePath } from '../../lib/base-path.ts'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import styles from './clip-player.module.css'
import { Notice } from './notice.tsx'

interface ClipsProps {
  /** The id of the video, for the names of its files. */
  readonly id: string
  /** Paths of its clips on this site. */
  readonly paths: readonly string[]
}

/** The clips of a video, to play and to download. */
export function ClipPlayers({ id, paths }: ClipsProps) {
  return (
    <div className={styles.clips}>
      {paths.map((path, place) => (
        <ClipPlayer key={path} path={path} name={paths.length > 1 ? `${id}-${place + 1}` : id} number={place + 1} />
      ))}
    </div>
  )
}

function ClipPlayer({ path, name, number }: { path: string; name: string; number: number }) {
  const say = useText(texts)
  const [failed, setFailed] = useState(false)
  const label = say('clipNumber', { number })
  const address = sitePath(path)
  return (
    <figure className={styles.clip}>
      {failed ? (
        <Notice kind="warn">{say('clipFailed')}</Notice>
      ) : (
        // biome-ignore lint/a11y/useMediaCaption: clips have no captions
        <video
          className={styles.player}
          controls
          playsInline
          preload="metadata"
          src={address}
          aria-label={label}
          onError={() => setFailed(true)}
        />
      )}
      <Button
        component="a"
        href={address}
        download={`${name}.mp4`}
        size="compact-sm"
        variant="default"
        aria-label={`${say('clipDownload')}: ${label}`}
        leftSection={<IconDownload size={15} stroke={1.6} />}
      >
        {say('clipDownload')}
      </Button>
    </figure>
  )
}
