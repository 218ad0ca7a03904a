import { ActionIcon, Textarea, Tooltip, UnstyledButton } from '@mantine/core'
import { IconCopy } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { textOf, useText } from '../../lib/i18n.ts'
import { toast } from '../../lib/toast.ts'
import { showDialog } from '../dialog/dialogs.tsx'
import { texts } from '../texts.ts'
import styles from './copy-text.module.css'

/**
 * Copies the text, shows a message, and returns whether it succeeded; if the browser refuses, a dialog offers the text for manual
 * copying.
 */
export async function copyText(text: string, success: string = textOf(texts, 'copied')): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    toast.success(success)
    return true
  } catch {
    offerByHand(text)
    return false
  }
}

function offerByHand(text: string): void {
  void showDialog({
    title: textOf(texts, 'copyFailed'),
    cancelLabel: textOf(texts, 'close'),
    body: (
      <Textarea
        data-autofocus
        readOnly
        autosize
        maxRows={12}
        label={textOf(texts, 'copyFailedHint')}
        value={text}
        onFocus={(event) => event.currentTarget.select()}
        classNames={{ input: styles.byHand ?? '' }}
      />
    ),
  })
}

/** An icon that copies `text`; `label` names it. */
export function CopyButton({ text, label }: { text: string | (() => string); label?: string }) {
  const say = useText(texts)
  const name = label ? `${say('copy')}: ${label}` : say('copy')
  return (
    <Tooltip label={say('copy')}>
      <ActionIcon size="sm" aria-label={name} onClick={() => copyText(typeof text === 'string' ? text : text())}>
        <IconCopy size={15} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}

/** A text that is copied when it is pressed. */
export function CopyText({ text, children }: { text: string; children?: ReactNode }) {
  const say = useText(texts)
  return (
    <Tooltip label={say('copy')}>
      <UnstyledButton className={styles.text} onClick={() => copyText(text)}>
        {children ?? text}
      </UnstyledButton>
    </Tooltip>
  )
}
