import { TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'
import type { StatusPage } from '../../../contract/entities/status-page.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { Empty } from '../../ui/page/empty.tsx'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { DayAxis, DayStrip, shareText } from './day-strip.tsx'
import { type StatusRow, statusRows } from './rows.ts'
import { StateTag } from './state.tsx'
import styles from './status.module.css'
import { texts } from './texts.ts'

const searchedFrom = 12

/** The models of the reader's groups, each with its state, its share and its days. */
export function Models({ page: { groups, first_day: firstDay } }: { page: StatusPage }) {
  const say = useText(texts)
  const [search, setSearch] = useState('')
  const rows = statusRows(groups)
  const wanted = search.trim().toLowerCase()
  const shown = rows.filter(({ model }) => model.name.toLowerCase().includes(wanted))

  if (rows.length === 0) return <Empty title={say('noModels')} hint={say('noModelsHint')} />
  return (
    <>
      <div className={styles.tools}>
        <Legend />
        {rows.length >= searchedFrom && (
          <TextInput
            aria-label={say('search')}
            placeholder={say('search')}
            leftSection={<IconSearch size={16} stroke={1.6} />}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        )}
      </div>
      {shown.length === 0 ? (
        <Empty title={say('noMatch')} />
      ) : (
        <Panel title={say('models')} aside={<span className={styles.quiet}>{say('modelCount', { count: shown.length })}</span>}>
          <ul className={`${shared.list} ${styles.models}`}>
            {shown.map((row) => (
              <ModelRow key={row.key} row={row} firstDay={firstDay} />
            ))}
          </ul>
          <DayAxis />
        </Panel>
      )}
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

function ModelRow({ row: { model, groups }, firstDay }: { row: StatusRow; firstDay: number }) {
  const say = useText(texts)
  const local = useLocal()
  const { name, state, share, vendors } = model
  const about = [...groups, ...vendors.map((vendor) => local(vendor))].join(' · ')
  return (
    <li className={styles.model}>
      <div className={styles.who}>
        <span className={styles.name}>{name}</span>
        {about !== '' && <span className={styles.quiet}>{about}</span>}
      </div>
      <DayStrip model={model} firstDay={firstDay} />
      <span className={styles.share}>{share === null ? say('shareNone') : say('share', { share: shareText(share) })}</span>
      <StateTag state={state} />
    </li>
  )
}
