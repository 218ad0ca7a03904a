import { TextInput } from '@mantine/core'
import { useState } from 'react'
import type { Channel } from '../../../contract/entities/channel.ts'
import { channelPriorityMin } from '../../../contract/entities/channel-status.ts'
import { useText } from '../../lib/i18n.ts'
import styles from './channels.module.css'
import { texts } from './texts.ts'
import { useRowEdit } from './use-row-edit.ts'

const minimums = { priority: channelPriorityMin, weight: 0 } as const

/** A number edited in its row: saved on blur or Enter if it changed. Esc restores the saved value. */
export function InlineNumber({ channel, field }: { channel: Channel; field: keyof typeof minimums }) {
  const say = useText(texts)
  const [draft, setDraft] = useState<string>()
  const edit = useRowEdit(({ name }) => say('saved', { name }))
  const saving = edit.isPending ? edit.variables.body[field] : undefined

  function save(): void {
    const typed = Math.max(minimums[field], Math.trunc(Number(draft)))
    setDraft(undefined)
    if (draft === undefined || draft === '' || !Number.isSafeInteger(typed) || typed === channel[field]) return
    edit.mutate({ body: { id: channel.id, [field]: typed } })
  }

  return (
    <TextInput
      inputMode="numeric"
      aria-label={`${say(field)}: ${channel.name}`}
      size="xs"
      classNames={{ input: styles.inlineNumber ?? '' }}
      value={draft ?? String(saving ?? channel[field])}
      disabled={edit.isPending}
      onChange={(event) => setDraft(event.currentTarget.value)}
      onBlur={save}
      onFocus={(event) => event.currentTarget.select()}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') setDraft(undefined)
      }}
    />
  )
}
