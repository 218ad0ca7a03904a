import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import type { Channel } from '../../../../contract/entities/channel.ts'
import { useLocal, useText } from '../../../lib/i18n.ts'
import { SecretTextarea } from '../../../ui/form/secret-textarea.tsx'
import { useChannelTypes } from '../use-channel-types.ts'
import styles from './keys.module.css'
import { texts } from './texts.ts'
import { useKeyWrites } from './use-key-writes.ts'

export function AddKeys({ channel }: { channel: Pick<Channel, 'id' | 'type'> }) {
  const say = useText(texts)
  const local = useLocal()
  const { data: types } = useChannelTypes()
  const type = types?.find(({ id }) => id === channel.type)
  const [text, setText] = useState('')
  const { add } = useKeyWrites(() => setText(''))
  const isWhole = type?.key_has_lines === true
  const given = text.trim() === '' ? 0 : isWhole ? 1 : new Set(text.split(/\r?\n/).flatMap((line) => line.trim() || [])).size

  return (
    <div className={styles.add}>
      <SecretTextarea
        label={say(isWhole ? 'addWhole' : 'addLines')}
        description={say('addHelp')}
        placeholder={type && local(type.key_format)}
        showLabel={say('show')}
        hideLabel={say('hide')}
        minRows={2}
        maxRows={8}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Button
        variant="default"
        leftSection={<IconPlus size={16} />}
        disabled={given === 0}
        loading={add.isPending}
        onClick={() => add.mutate({ params: { id: channel.id }, body: { key: text } })}
      >
        {given > 1 ? say('addCount', { count: given }) : say('add')}
      </Button>
    </div>
  )
}
