import { Button, Modal, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import type { Channel } from '../../../contract/entities/channel.ts'
import { useText } from '../../lib/i18n.ts'
import { Tag } from '../../ui/tag.tsx'
import styles from './channels.module.css'
import { texts } from './texts.ts'
import { useChannelTest } from './use-channel-test.ts'

export function TestDialog({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const say = useText(texts)
  const [search, setSearch] = useState('')
  const wanted = search.trim().toLowerCase()
  const models = channel.models.split(',')
  const found = new Set(models.filter((model) => model.toLowerCase().includes(wanted)))

  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={say('testTitle', { name: channel.name })}
      closeButtonProps={{ 'aria-label': say('close') }}
    >
      <p className={styles.testHint}>{say('testHint')}</p>
      <TextInput
        data-autofocus
        type="search"
        aria-label={say('testSearch')}
        placeholder={say('testSearch')}
        leftSection={<IconSearch size={16} />}
        value={search}
        onChange={(event) => setSearch(event.currentTarget.value)}
      />
      <p className={styles.testCount} role="status">
        {say(found.size === 0 ? 'testNone' : 'testFound', { count: found.size })}
      </p>
      <ul className={styles.testList}>
        {models.map((model) => (
          // What a search hides keeps its result.
          <ModelTest key={model} channel={channel} model={model} hidden={!found.has(model)} />
        ))}
      </ul>
    </Modal>
  )
}

function ModelTest({ channel, model, hidden }: { channel: Channel; model: string; hidden: boolean }) {
  const say = useText(texts)
  const test = useChannelTest()
  return (
    <li className={styles.testRow} hidden={hidden}>
      <div className={styles.testModel}>
        <span>
          {model} {model === channel.test_model && <Tag>{say('testDefault')}</Tag>}
        </span>
        {test.error && <span className={styles.testError}>{test.error.message}</span>}
      </div>
      {test.data !== undefined && !test.isPending && (
        <Tag color="green" dot>
          {say('seconds', { seconds: test.data.toFixed(2) })}
        </Tag>
      )}
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`${say('test')}: ${model}`}
        loading={test.isPending}
        onClick={() => test.mutate({ id: channel.id, model })}
      >
        {say('test')}
      </Button>
    </li>
  )
}
