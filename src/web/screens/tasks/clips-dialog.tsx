import { Button, Stack } from '@mantine/core'
import { IconDownload, IconMovie } from '@tabler/icons-react'
import { useText } from '../../lib/i18n.ts'
import { Dialog } from '../../ui/dialog/dialog.tsx'
import { Disclosure } from '../../ui/page/disclosure.tsx'
import shared from '../../ui/shared.module.css'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CopyButton } from '../../ui/view/copy-text.tsx'
import type { Clip } from './clips.ts'
import styles from './tasks.module.css'
import { texts } from './texts.ts'

/** Plays songs and shows their lyrics. A song is loaded from the upstream only when it is played. */
export function ClipsDialog({ id, clips, onClose }: { id: string; clips: readonly Clip[]; onClose: () => void }) {
  const say = useText(texts)
  return (
    <Dialog title={say('taskOf', { id })} onClose={onClose}>
      <Stack gap="lg">
        {clips.map((clip, place) => (
          <Song
            key={clip.audio + clip.title + clip.lyrics}
            clip={clip}
            title={clip.title || say('songNumber', { number: place + 1 })}
          />
        ))}
      </Stack>
    </Dialog>
  )
}

function Song({ clip: { audio, video, lyrics }, title }: { clip: Clip; title: string }) {
  const say = useText(texts)
  const isAlone = audio === '' && video === ''
  return (
    <section className={styles.song} aria-label={title}>
      <h3 className={styles.songTitle}>{title}</h3>
      {/* Audio without https is not played here, only linked. */}
      {audio.startsWith('https:') && (
        // biome-ignore lint/a11y/useMediaCaption: the words of the song stand below it
        <audio className={styles.player} controls preload="none" src={audio} aria-label={title} />
      )}
      <div className={styles.links}>
        {audio !== '' && (
          <Button {...elsewhere(audio)} leftSection={<IconDownload size={15} stroke={1.6} />}>
            {say('audioFile')}
          </Button>
        )}
        {video !== '' && (
          <Button {...elsewhere(video)} leftSection={<IconMovie size={15} stroke={1.6} />}>
            {say('video')}
          </Button>
        )}
        {audio !== '' && <CopyButton text={audio} label={`${say('audioFile')} ${title}`} />}
      </div>
      {lyrics !== '' &&
        (isAlone ? (
          <CodeBlock className={shared.asWritten}>{lyrics}</CodeBlock>
        ) : (
          <Disclosure title={say('lyrics')}>
            <CodeBlock className={shared.asWritten}>{lyrics}</CodeBlock>
          </Disclosure>
        ))}
    </section>
  )
}

/** A link to a file at the upstream. */
const elsewhere = (href: string) =>
  ({ component: 'a', href, target: '_blank', rel: 'noopener noreferrer', size: 'compact-sm', variant: 'default' }) as const
