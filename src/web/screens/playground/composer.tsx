import { ActionIcon, Button, FileButton, Textarea, Tooltip } from '@mantine/core'
import { IconArrowUp, IconCode, IconEraser, IconPhotoPlus, IconPlayerStopFilled, IconX } from '@tabler/icons-react'
import { type ClipboardEvent, type KeyboardEvent, useRef } from 'react'
import { useText } from '../../lib/i18n.ts'
import { PictureThumb } from '../../ui/view/picture-thumb.tsx'
import { pictureTypes } from './pictures.ts'
import styles from './playground.module.css'
import { texts } from './texts.ts'
import type { Question } from './turns.ts'

interface ComposerProps {
  readonly draft: Question
  readonly onText: (text: string) => void
  readonly onPictures: (files: readonly File[]) => void
  readonly onRemovePicture: (place: number) => void
  /** An answer is being written; it can be stopped. */
  readonly running: boolean
  /** The draft replaces an earlier question. */
  readonly editing: boolean
  readonly canClear: boolean
  readonly onSend: () => void
  readonly onStop: () => void
  readonly onCancelEdit: () => void
  readonly onEditLast: () => void
  readonly onClear: () => void
  readonly onCode: () => void
}

/** The input of questions, and the actions on the conversation. */
export function Composer(props: ComposerProps) {
  const { draft, onText, onPictures, running, editing, canClear, onSend, onStop, onCancelEdit, onEditLast, onClear, onCode } =
    props
  const say = useText(texts)
  const input = useRef<HTMLTextAreaElement>(null)
  const isEmpty = draft.text.trim() === '' && draft.pictures.length === 0

  // Enter also ends a composition of an input method; some browsers report that only by this old key code.
  function press(event: KeyboardEvent): void {
    const composing = event.nativeEvent.isComposing || event.nativeEvent.keyCode === 229
    if (composing || event.shiftKey) return
    if (event.key === 'Enter') {
      event.preventDefault()
      onSend()
    } else if (event.key === 'ArrowUp' && isEmpty && !running) {
      event.preventDefault()
      onEditLast()
    }
  }

  function paste(event: ClipboardEvent): void {
    const files = [...event.clipboardData.files].filter(({ type }) => type.startsWith('image/'))
    if (files.length === 0) return
    event.preventDefault()
    onPictures(files)
  }

  function send(): void {
    onSend()
    input.current?.focus()
  }

  return (
    <div className={styles.composer}>
      {editing && (
        <div className={styles.editing}>
          <span>{say('editing')}</span>
          <Button size="compact-xs" variant="subtle" onClick={onCancelEdit}>
            {say('editCancel')}
          </Button>
        </div>
      )}
      <Attached {...props} />
      <Textarea
        ref={input}
        id="playground-input"
        variant="unstyled"
        aria-label={say('input')}
        placeholder={say('inputPlaceholder')}
        autosize
        minRows={1}
        maxRows={8}
        value={draft.text}
        onChange={(event) => onText(event.currentTarget.value)}
        onKeyDown={press}
        onPaste={paste}
      />
      <div className={styles.tools}>
        <FileButton multiple accept={pictureTypes.join(',')} onChange={onPictures}>
          {(button) => (
            <Tooltip label={say('pictureHint')}>
              <ActionIcon {...button} size={30} aria-label={say('pictureAdd')}>
                <IconPhotoPlus size={18} stroke={1.6} />
              </ActionIcon>
            </Tooltip>
          )}
        </FileButton>
        <Tooltip label={say('code')}>
          <ActionIcon size={30} aria-label={say('code')} onClick={onCode}>
            <IconCode size={18} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
        {canClear && (
          <Tooltip label={say('clearHint')}>
            <Button size="compact-sm" variant="subtle" color="gray" leftSection={<IconEraser size={16} />} onClick={onClear}>
              {say('clear')}
            </Button>
          </Tooltip>
        )}
        {running ? (
          <Button ml="auto" variant="default" leftSection={<IconPlayerStopFilled size={15} />} onClick={onStop}>
            {say('stop')}
          </Button>
        ) : (
          <Button ml="auto" leftSection={<IconArrowUp size={16} />} disabled={isEmpty} onClick={send}>
            {say('send')}
          </Button>
        )}
      </div>
    </div>
  )
}

function Attached({ draft: { pictures }, onRemovePicture }: ComposerProps) {
  const say = useText(texts)
  if (pictures.length === 0) return null
  return (
    <ul className={styles.attached} aria-label={say('pictures')}>
      {pictures.map((picture, place) => (
        <li key={picture} className={styles.attachment}>
          <PictureThumb src={picture} alt={say('pictureNumber', { number: place + 1 })} />
          <ActionIcon
            className={styles.detach ?? ''}
            size={20}
            radius="xl"
            variant="default"
            aria-label={say('pictureRemove', { number: place + 1 })}
            onClick={() => onRemovePicture(place)}
          >
            <IconX size={12} />
          </ActionIcon>
        </li>
      ))}
    </ul>
  )
}
