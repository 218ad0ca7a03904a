import { TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import type { StatusGroup, StatusModel, StatusPage } from '../../../contract/entities/status-page.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { Empty } from '../../ui/empty.tsx'
import { Panel } from '../../ui/panel.tsx'
import { DayStrip, shareText } from './day-strip.tsx'
import { StateTag } from './state.tsx'
import styles from './status.module.css'
import { texts } from './texts.ts'

const searchedFrom = 12

/** The models of the reader's groups, each with its state, its share and its days. */
export function Groups({ page: { groups, first_day: firstDay } }: { page: StatusPage }) {
  const say = useText(texts)
  const [search, setSearch] = useState('')
  const count = groups.reduce((sum, { models }) => sum + models.length, 0)
  const wanted = search.trim().toLowerCase()
  const shown = groups
    .map((group) => ({ ...group, models: group.models.filter(({ name }) => name.toLowerCase().includes(wanted)) }))
    .filter(({ models }) => models.length > 0)

  if (count === 0) return <Empty title={say('noModels')} hint={say('noModelsHint')} />
  return (
    <>
      <div className={styles.tools}>
        <Legend />
        {count >= searchedFrom && (
          <TextInput
            aria-label={say('search')}
            placeholder={say('search')}
            leftSection={<IconSearch size={16} stroke={1.6} />}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        )}
      </div>
      {shown.length === 0 && <Empty title={say('noMatch')} />}
      {shown.map((group) => (
        <GroupPanel key={group.name} group={group} firstDay={firstDay} />
      ))}
    </>
  )
}

function Legend() {
  const say = useText(texts)
  return (
    <div className={styles.legend}>
      <ul>
        <li data-mood="good">{say('legendGood')}</li>
        <li data-mood="fair">{say('legendFair')}</li>
        <li data-mood="poor">{say('legendPoor')}</li>
        <li data-mood="none">{say('legendNone')}</li>
      </ul>
      <p>{say('legend')}</p>
    </div>
  )
}

function GroupPanel({ group: { name, description, models }, firstDay }: { group: StatusGroup; firstDay: number }) {
  const say = useText(texts)
  return (
    <Panel
      title={name}
      description={description === name ? undefined : description}
      aside={<span className={styles.quiet}>{say('modelCount', { count: models.length })}</span>}
    >
      <ul className={styles.models}>
        {models.map((model) => (
          <ModelRow key={model.name} model={model} firstDay={firstDay} />
        ))}
      </ul>
    </Panel>
  )
}

function ModelRow({ model, firstDay }: { model: StatusModel; firstDay: number }) {
  const say = useText(texts)
  const local = useLocal()
  const { name, state, share, vendors } = model
  return (
    <li className={styles.model}>
      <div className={styles.head}>
        <span className={styles.name}>{name}</span>
        {vendors.length > 0 && <span className={styles.quiet}>{vendors.map((vendor) => local(vendor)).join(' · ')}</span>}
        <span className={styles.share}>{share === null ? say('shareNone') : say('share', { share: shareText(share) })}</span>
        <StateTag state={state} />
      </div>
      <DayStrip model={model} firstDay={firstDay} />
    </li>
  )
}
