import { Box, Button, Checkbox, SegmentedControl } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { Dialog } from '../../../ui/dialog/dialog.tsx'
import { SearchInput } from '../../../ui/form/search-input.tsx'
import shared from '../../../ui/shared.module.css'
import { Tag } from '../../../ui/view/tag.tsx'
import styles from './form.module.css'
import { readMapping } from './mapping.ts'
import { texts } from './picker-texts.ts'

interface ModelPickerProps {
  /** The upstream's models. */
  readonly listed: readonly string[]
  /** The channel's models. */
  readonly chosen: readonly string[]
  /** The type of the channel proposed them: those that the upstream does not list are not selected. */
  readonly isPreset: boolean
  /** The channel's model mapping: a model that is mapped to a listed model counts as listed. */
  readonly mapping: string
  readonly onChoose: (chosen: readonly string[]) => void
  readonly onClose: () => void
}

type View = 'all' | 'fresh' | 'unlisted'

/** The greatest number of models shown; the search finds the others. */
const shownMax = 300

/** Selects the upstream's models that the channel will serve. */
export function ModelPicker({ listed, chosen, isPreset, mapping, onChoose, onClose }: ModelPickerProps) {
  const say = useText(texts)
  const [ticked, setTicked] = useState<ReadonlySet<string>>(
    () => new Set(isPreset ? chosen.filter((model) => listed.includes(model)) : chosen),
  )
  const [view, setView] = useState<View>('all')
  const [search, setSearch] = useState('')

  const upstream = new Map((readMapping(mapping) ?? []).map(({ from, to }) => [from, to]))
  const known = new Set([...chosen, ...chosen.map((model) => upstream.get(model) ?? model)])
  const names: Readonly<Record<View, readonly string[]>> = {
    all: listed,
    fresh: listed.filter((model) => !known.has(model)),
    unlisted: chosen.filter((model) => !model.includes('*') && !listed.includes(upstream.get(model) ?? model)),
  }
  const wanted = search.trim().toLowerCase()
  const found = names[view].filter((model) => model.toLowerCase().includes(wanted))
  const shown = found.slice(0, shownMax)
  const isAll = found.length > 0 && found.every((model) => ticked.has(model))

  function tick(models: readonly string[], isTicked: boolean): void {
    const others = [...ticked].filter((model) => !models.includes(model))
    setTicked(new Set(isTicked ? [...ticked, ...models] : others))
  }

  function apply(): void {
    onChoose([...ticked])
    onClose()
  }

  return (
    <Dialog
      title={say('title')}
      onClose={onClose}
      footer={
        <>
          <Box component="span" mr="auto" className={shared.hint}>
            {say('chosen', { count: ticked.size })}
          </Box>
          <Button variant="default" onClick={onClose}>
            {say('cancel')}
          </Button>
          <Button onClick={apply}>{say('apply')}</Button>
        </>
      }
    >
      <div className={styles.pickTools}>
        <SearchInput isFirst label={say('search')} value={search} onChange={setSearch} />
        <SegmentedControl
          size="xs"
          aria-label={say('view')}
          value={view}
          onChange={setView}
          data={(['all', 'fresh', 'unlisted'] as const).map((value) => ({
            value,
            label: say(`view_${value}`, { count: names[value].length }),
          }))}
        />
      </div>
      <Checkbox
        size="xs"
        mb="xs"
        label={say('all', { count: found.length })}
        disabled={found.length === 0}
        checked={isAll}
        indeterminate={!isAll && found.some((model) => ticked.has(model))}
        onChange={() => tick(found, !isAll)}
      />
      <ul className={styles.pickList}>
        {shown.map((model) => (
          <li key={model}>
            <Checkbox
              size="xs"
              label={
                <>
                  {model}{' '}
                  {view !== 'fresh' && listed.includes(model) && !known.has(model) && <Tag color="green">{say('new')}</Tag>}
                </>
              }
              checked={ticked.has(model)}
              onChange={(event) => tick([model], event.currentTarget.checked)}
            />
          </li>
        ))}
        {found.length === 0 && <li className={shared.hint}>{say('none')}</li>}
        {found.length > shown.length && <li className={shared.hint}>{say('more', { count: found.length - shown.length })}</li>}
      </ul>
    </Dialog>
  )
}
