import { Button, Group, Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'
import { dialogName } from './dialog-name.ts'
import { useLayer } from './layers.ts'
import { useFocusReturn } from './use-focus-return.ts'

export interface DialogContent {
  readonly title: string
  readonly body: ReactNode
  /** Absent for a message, which only has a close button. */
  readonly confirmLabel?: string
  readonly cancelLabel: string
  readonly danger?: boolean
  readonly wide?: boolean
}

/** The harmless button has the focus. */
export function DialogView({ content, onAnswer }: { content: DialogContent; onAnswer: (confirmed: boolean) => void }) {
  const { title, body, confirmLabel, cancelLabel, danger, wide } = content
  const say = useText(texts)
  useLayer()
  useFocusReturn()
  return (
    <Modal
      opened
      onClose={() => onAnswer(false)}
      title={title}
      attributes={dialogName(title)}
      size={wide ? 'xl' : 'md'}
      closeButtonProps={{ 'aria-label': say('close') }}
    >
      {body}
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" data-autofocus={confirmLabel !== undefined || undefined} onClick={() => onAnswer(false)}>
          {cancelLabel}
        </Button>
        {confirmLabel !== undefined && (
          <Button color={danger ? 'red' : undefined} onClick={() => onAnswer(true)}>
            {confirmLabel}
          </Button>
        )}
      </Group>
    </Modal>
  )
}
