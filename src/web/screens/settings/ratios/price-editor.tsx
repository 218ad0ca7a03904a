import { ActionIcon, Box, Button, Group, SegmentedControl, Select, Tooltip } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { read } from '../../../lib/query.ts'
import { useStatus } from '../../../lib/status.ts'
import { SearchInput } from '../../../ui/form/search-input.tsx'
import { DataTable } from '../../../ui/list/data-table.tsx'
import { useFilteredEmpty } from '../../../ui/list/filtered-empty.tsx'
import { loadingOf, usePages } from '../../../ui/list/list-rows.ts'
import type { Column, RowKey } from '../../../ui/list/listing.ts'
import { Panel } from '../../../ui/page/panel.tsx'
import shared from '../../../ui/shared.module.css'
import { Example } from './example.tsx'
import { builtInFigures, priceOptions } from './example-price.ts'
import { PriceInput, type Unit } from './price-input.tsx'
import styles from './ratios.module.css'
import { type PriceSources, TakePrices, useSourceColumn } from './source-column.tsx'
import { figuresOfPrices, type ModelPrices, noPrices, type PriceField } from './table.ts'
import { priceLabels, texts } from './texts.ts'
import type { PriceEditing } from './use-price-table.ts'

const BatchDialog = lazy(async () => ({ default: (await import('./batch-dialog.tsx')).BatchDialog }))
const AddDialog = lazy(async () => ({ default: (await import('./add-dialog.tsx')).AddDialog }))

const tokenFields = ['ratio', 'completion', 'cacheRead', 'cacheWrite'] as const satisfies readonly PriceField[]
const shows = ['showAll', 'showPrice', 'showTokens', 'showChanged'] as const
type Show = (typeof shows)[number]

interface PriceEditorProps {
  readonly editing: PriceEditing
  /** The price source of each model, by name. */
  readonly sources: PriceSources
  /** The day of the public price data. */
  readonly date: string
  /** The models without a price; if absent, all models with one. */
  readonly unpriced?: readonly string[]
}

/** Edits the prices of models in place: they are searched, added, deleted, filled in together, and applied all at once. */
export function PriceEditor({ editing, sources, date, unpriced }: PriceEditorProps) {
  const say = useText(texts)
  const [search, setSearch] = useState('')
  const [show, setShow] = useState<Show>('showAll')
  const [unit, setUnit] = useState<Unit>('usd')
  const [selected, setSelected] = useState<ReadonlySet<RowKey>>(new Set())
  const [dialog, setDialog] = useState<'add' | 'batch'>()
  const sourceColumn = useSourceColumn({ sources, date, isUnset: unpriced !== undefined })
  const columns = useColumns(editing, { unit, sources, sourceColumn })
  // Only its loading state is used: the rows are those of the editor.
  const options = useQuery(read('GET /api/option/'))

  const words = search.trim().toLowerCase()
  const names = unpriced ?? namesOf(editing, sources)
  const rows = names.filter((name) => name.toLowerCase().includes(words) && isShown(editing, name, show))
  const pages = usePages(options.data && rows)
  const nothingMatches = useFilteredEmpty(() => {
    setSearch('')
    setShow('showAll')
  })
  const close = () => setDialog(undefined)

  return (
    <Panel
      title={say(unpriced ? 'unsetTitle' : 'editorTitle')}
      description={say(unpriced ? 'unsetHint' : 'editorHint')}
      footer={<Footer editing={editing} />}
      keepFooter
    >
      <DataTable
        label={say(unpriced ? 'unsetTitle' : 'editorTitle')}
        name="model-prices"
        dense
        columns={columns}
        {...loadingOf(options)}
        {...pages}
        rowKey={(name) => name}
        selected={selected}
        onSelect={setSelected}
        bulkActions={
          <Button size="compact-sm" onClick={() => setDialog('batch')}>
            {say('batch', { count: selected.size })}
          </Button>
        }
        rowActions={(name) =>
          Object.hasOwn(editing.table, name) && (
            <Tooltip label={say('remove')}>
              <ActionIcon color="red" aria-label={`${say('remove')}: ${name}`} onClick={() => editing.set({ [name]: null })}>
                <IconTrash size={16} />
              </ActionIcon>
            </Tooltip>
          )
        }
        empty={
          names.length > 0
            ? nothingMatches
            : unpriced
              ? { title: say('empty'), hint: say('emptyHint') }
              : { title: say('noModels'), hint: say('add') }
        }
        toolbar={
          <Group gap="xs">
            <SearchInput label={say('search')} value={search} onChange={setSearch} />
            {!unpriced && (
              <Select
                aria-label={say('show')}
                data={shows.map((value) => ({ value, label: say(value) }))}
                allowDeselect={false}
                value={show}
                onChange={(next) => setShow(shows.find((known) => known === next) ?? 'showAll')}
              />
            )}
            <SegmentedControl
              aria-label={say('unit')}
              value={unit}
              onChange={(next) => setUnit(next === 'ratio' ? 'ratio' : 'usd')}
              data={[
                { value: 'usd', label: say('unitUsd') },
                { value: 'ratio', label: say('unitRatio') },
              ]}
            />
            {unpriced && <TakePrices models={unpriced} sources={sources} hasDrafts={Object.keys(editing.drafts).length > 0} />}
            {!unpriced && (
              <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setDialog('add')}>
                {say('add')}
              </Button>
            )}
          </Group>
        }
      />
      <Example editing={editing} names={pages.rows ?? []} unit={unit} />
      <Suspense>
        {dialog === 'batch' && (
          <BatchDialog
            models={[...selected].map(String)}
            table={editing.table}
            options={editing.options}
            onClose={close}
            onFill={editing.set}
          />
        )}
        {dialog === 'add' && (
          <AddDialog
            isTaken={(name) => Object.hasOwn(editing.table, name)}
            onClose={close}
            onAdd={(name, prices) => {
              editing.set({ [name]: prices })
              setSearch(name)
              setShow('showAll')
            }}
          />
        )}
      </Suspense>
    </Panel>
  )
}

function isShown({ table, drafts }: PriceEditing, name: string, show: Show): boolean {
  const byCall = table[name]?.price !== undefined && table[name].price !== ''
  if (show === 'showPrice') return byCall
  if (show === 'showTokens') return !byCall
  return show === 'showAll' || Object.hasOwn(drafts, name)
}

/** The models of the table, and those with a public price. */
function namesOf({ table }: PriceEditing, sources: PriceSources): readonly string[] {
  const published = [...sources.values()].flatMap(({ model, source }) => (source === 'public' ? [model] : []))
  return [...new Set([...Object.keys(table), ...published])].toSorted()
}

interface ColumnsInput {
  readonly unit: Unit
  readonly sources: PriceSources
  readonly sourceColumn: Column<string>
}

function useColumns(
  { table, drafts, options, set }: PriceEditing,
  { unit, sources, sourceColumn }: ColumnsInput,
): Column<string>[] {
  const say = useText(texts)
  const perUsd = useStatus().quota_per_unit
  const publicPrices = (name: string) => {
    const charged = sources.get(name)?.charged
    return charged ? figuresOfPrices(charged.prices, perUsd) : undefined
  }
  const saved = priceOptions(options)
  const figure = (name: string, field: PriceField) => (
    <PriceInput
      // The key resets the field when the unit changes.
      key={unit}
      name={name}
      field={field}
      unit={unit}
      prices={table[name] ?? noPrices}
      fallback={publicPrices(name)}
      builtIn={builtInFigures(name, table[name] ?? noPrices, saved)}
      onChange={(prices: ModelPrices) => set({ [name]: prices })}
    />
  )
  const usd = unit === 'usd'
  return [
    {
      key: 'model',
      title: say('model'),
      heads: true,
      cell: (name) => (
        <span className={styles.model} data-changed={Object.hasOwn(drafts, name)}>
          {name}
        </span>
      ),
    },
    sourceColumn,
    ...tokenFields.map(
      (field): Column<string> => ({
        key: field,
        title: usd ? `${say(priceLabels.usd[field])} (${say('perMillion')})` : say(priceLabels.ratio[field]),
        hideable: field !== 'ratio',
        hidden: field === 'cacheWrite',
        cell: (name) => figure(name, field),
      }),
    ),
    { key: 'price', title: `${say('price')} (${say('perCall')})`, hideable: true, cell: (name) => figure(name, 'price') },
  ]
}

function Footer({ editing: { drafts, saving, undo, apply } }: { editing: PriceEditing }) {
  const say = useText(texts)
  const count = Object.keys(drafts).length
  return (
    <>
      {count > 0 && (
        <Box component="span" mr="auto" className={shared.hint}>
          {say('changed', { count })}
        </Box>
      )}
      {count > 0 && (
        <Button variant="default" onClick={undo} disabled={saving}>
          {say('undo')}
        </Button>
      )}
      <Button variant={count > 0 ? 'filled' : 'default'} onClick={() => void apply()} loading={saving}>
        {say('apply')}
      </Button>
    </>
  )
}
