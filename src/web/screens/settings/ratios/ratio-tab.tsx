import { SegmentedControl } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { read } from '../../../lib/query.ts'
import { useUrlState } from '../../../lib/search-params.ts'
import { ErrorView } from '../../../ui/page/error-view.tsx'
import { PriceEditor } from './price-editor.tsx'
import { texts } from './texts.ts'
import { usePriceTable } from './use-price-table.ts'

const views = [
  { value: 'editor', label: 'viewEditor' },
  { value: 'unset', label: 'viewUnset' },
  { value: 'options', label: 'viewOptions' },
] as const

/** The model prices: as a table to edit, the models without a price, and all ratios as stored. */
export function RatioTab({ options }: { options: ReactNode }) {
  const say = useText(texts)
  const { values, change } = useUrlState({ view: 'editor' })
  const editing = usePriceTable()
  const priced = useQuery(read('GET /api/pricing/models'))
  const sources = new Map(priced.data?.models.map((row) => [row.model, row]))
  const unpriced = [...sources.values()].flatMap(({ model, served, source }) => (served && source === null ? [model] : []))
  const known = { editing, sources, date: priced.data?.data_date ?? '' }

  return (
    <>
      <SegmentedControl
        mb="md"
        aria-label={say('view')}
        value={views.some(({ value }) => value === values.view) ? values.view : 'editor'}
        onChange={(view) => change({ view })}
        data={views.map(({ value, label }) => ({
          value,
          label: value === 'unset' && unpriced.length > 0 ? `${say(label)} (${unpriced.length})` : say(label),
        }))}
      />
      {values.view === 'options' ? (
        options
      ) : values.view === 'unset' && priced.error ? (
        <ErrorView title={say('enabledFailed')} error={priced.error} onRetry={() => void priced.refetch()} />
      ) : values.view === 'unset' ? (
        <PriceEditor key="unset" {...known} unpriced={unpriced} />
      ) : (
        <PriceEditor key="editor" {...known} />
      )}
    </>
  )
}
