import { Button, Textarea } from '@mantine/core'
import { IconArrowUp, IconCode, IconEraser, IconPlayerStopFilled } from '@tabler/icons-react'
import { type KeyboardEvent, useRef } from 'react'
import { useText } from '../../lib/i18n.ts'
import styles from './playground.module.css'
import { texts } from './texts.ts'

export interface ComposerProps {
  readonly draft: string
  readonly onDraft: (draft: string) => void
  /** An answer is being written; it can be stopped. */
  readonly running: boolean
  /** The draft replaces the last question. */
  readonly editing: boolean
  readonly canClear: boolean
  readonly onSend: () => void
  readonly onStop: () => void
  readonly onCancelEdit: () => void
  readonly onClear: () => void
  readonly onCode: () => void
}

/** Where a question is typed, and what can be done with the conversation. */
export function Composer(props: ComposerProps) {
  const { draft, onDraft, running, editing, canClear, onSend, onStop, onCancelEdit, onClear, onCode } = props
  const say = useText(texts)
  const input = useRef<HTMLTextAreaElement>(null)

  // Enter also ends a composition of an input method; some browsers tell that only by this old key code.
  function press(event: KeyboardEvent): void {
    const composing = event.nativeEvent.isComposing || event.nativeEvent.keyCode === 229
    if (event.key !== 'Enter' || event.shiftKey || composing) return
    event.preventDefault()
    onSend()
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
      <Textarea
        ref={input}
        id="playground-input"
        variant="unstyled"
        aria-label={say('input')}
        placeholder={say('inputPlaceholder')}
        autosize
        minRows={1}
        maxRows={8}
        value={draft}
        onChange={(event) => onDraft(event.currentTarget.value)}
        onKeyDown={press}
      />
      <div className={styles.tools}>
        {canClear && (
          <Button size="compact-sm" variant="subtle" color="gray" leftSection={<IconEraser size={16} />} onClick={onClear}>
            {say('clear')}
          </Button>
        )}
        <Button size="compact-sm" variant="subtle" color="gray" leftSection={<IconCode size={16} />} onClick={onCode}>
          {say('code')}
        </Button>
        {running ? (
          <Button ml="auto" variant="default" leftSection={<IconPlayerStopFilled size={15} />} onClick={onStop}>
            {say('stop')}
          </Button>
        ) : (
          <Button ml="auto" leftSection={<IconArrowUp size={16} />} disabled={draft.trim() === ''} onClick={send}>
            {say('send')}
          </Button>
        )}
      </div>
    </div>
  )
}
