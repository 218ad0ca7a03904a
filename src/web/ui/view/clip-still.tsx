import { useIntersection } from '@mantine/hooks'
import { IconMovie } from '@tabler/icons-react'
import { useState } from 'react'
import { sitePath } from '../../lib/base-path.ts'
import styles from './clip-still.module.css'

/** The first frame of a clip in a small frame of fixed size, loaded when it comes into view; a sign without a path, or where it cannot be loaded. */
export function ClipStill({ path }: { path: string | undefined }) {
  const { ref, entry } = useIntersection()
  const [wasSeen, setSeen] = useState(false)
  const [failed, setFailed] = useState(false)
  if (entry?.isIntersecting && !wasSeen) setSeen(true)
  return (
    <span ref={ref} className={styles.still} aria-hidden>
      <IconMovie size={18} stroke={1.6} />
      {path !== undefined && wasSeen && !failed && (
        <video
          src={`${sitePath(path)}#t=0.1`}
          preload="metadata"
          muted
          playsInline
          tabIndex={-1}
          onError={() => setFailed(true)}
        />
      )}
    </span>
  )
}
