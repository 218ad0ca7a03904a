import { Button } from '@mantine/core'
import { useState } from 'react'
import type { Channel } from '../../../../contract/entities/channel.ts'
import { responseTimeColor } from '../../../lib/colors.ts'
import { useText } from '../../../lib/i18n.ts'
import { Dialog } from '../../../ui/dialog/dialog.tsx'
import { SearchInput } from '../../../ui/form/search-input.tsx'
import shared from '../../../ui/shared.module.css'
import { Tag } from '../../../ui/view/tag.tsx'
import styles from './testing.module.css'
import { texts } from './texts.ts'
import { type ModelTest, useModelTests } from './use-model-tests.ts'

/** Selects the models to test: a model of the channel, all matches of a search, or a typed name, such as for a wildcard. */
export function TestDialog({ channel, onClose }: { channel: Channel; onClose: () => void }) {
  const say = useText(texts)
  const [search, setSearch] = useState('')
  const { tests, run, stop, isRunning } = useModelTests(channel.id)
  const wanted = search.trim()
  const models = channel.models.split(',').filter((model) => !model.includes('*'))
  const found = models.filter((model) => model.toLowerCase().includes(wanted.toLowerCase()))
  const shown = found.length === 0 && wanted !== '' ? [wanted] : found

  return (
    <Dialog title={say('title', { name: channel.name })} onClose={onClose}>
      <p className={styles.hint}>{say('hint')}</p>
      <SearchInput isFirst label={say('search')} value={search} onChange={setSearch} />
      <div className={styles.count}>
        <span role="status">{say(found.length === 0 ? 'none' : 'found', { count: found.length })}</span>
        {isRunning ? (
          <Button size="compact-sm" variant="default" onClick={stop}>
            {say('stop')}
          </Button>
        ) : (
          <Button size="compact-sm" variant="default" disabled={found.length < 2} onClick={() => run(found)}>
            {say('testFound')}
          </Button>
        )}
      </div>
      <ul className={shared.rows}>
        {shown.map((model) => (
          <ModelRow
            key={model}
            model={model}
            isDefault={model === channel.test_model}
            test={tests.get(model)}
            onTest={() => run([model])}
          />
        ))}
      </ul>
    </Dialog>
  )
}

interface ModelRowProps {
  readonly model: string
  readonly isDefault: boolean
  readonly test: ModelTest | undefined
  readonly onTest: () => void
}

function ModelRow({ model, isDefault, test, onTest }: ModelRowProps) {
  const say = useText(texts)
  const result = typeof test === 'object' ? test : undefined
  return (
    <li>
      <div className={styles.model}>
        <span>
          {model} {isDefault && <Tag>{say('default')}</Tag>}
        </span>
        {result && 'reason' in result && <span className={styles.error}>{result.reason}</span>}
      </div>
      {result && 'seconds' in result && (
        <Tag color={responseTimeColor(result.seconds * 1000)} dot>
          {say('seconds', { seconds: result.seconds.toFixed(2) })}
        </Tag>
      )}
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`${say('test')}: ${model}`}
        loading={test === 'waiting'}
        onClick={onTest}
      >
        {say('test')}
      </Button>
    </li>
  )
}
