import { Button, Menu, Select, TextInput, VisuallyHidden } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconAdjustmentsHorizontal, IconFilterOff, IconPlus, IconSearch } from '@tabler/icons-react'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { useNarrow } from '../../lib/narrow.ts'
import type { SearchValue } from '../../lib/search-params.ts'
import { texts } from '../texts.ts'
import styles from './list-filters.module.css'
import { type Choice, type LookupChoices, LookupFilter } from './lookup-filter.tsx'
import { TimeRange } from './time-range.tsx'

const FilterSheet = lazy(async () => ({ default: (await import('./filter-sheet.tsx')).FilterSheet }))

export type Filter =
  | { readonly kind: 'search'; readonly name: string; readonly label: string; readonly width?: number }
  | { readonly kind: 'text'; readonly name: string; readonly label: string; readonly width?: number; readonly more?: true }
  | {
      readonly kind: 'select'
      readonly name: string
      /** The label of an empty choice, too. */
      readonly label: string
      readonly choices: readonly Choice[]
      readonly width?: number
      /** One of the choices is always selected. */
      readonly required?: true
      /** In a wide window it is shown once it is added from the menu, or set. */
      readonly more?: true
    }
  /** A choice among more than are loaded at once. */
  | {
      readonly kind: 'lookup'
      readonly name: string
      readonly label: string
      readonly width: number
      readonly more?: true
      readonly useChoices: LookupChoices
    }
  /** Two values, in unix seconds; 0 is open. */
  | { readonly kind: 'time'; readonly from: string; readonly to: string; readonly label: string }

interface ListFiltersProps {
  readonly filters: readonly Filter[]
  /** Beside the filters. */
  readonly tools?: ReactNode
  /** Of `useUrlState`. */
  readonly values: Readonly<Record<string, SearchValue>>
  readonly onChange: (patch: Record<string, SearchValue>) => void
  readonly onReset: () => void
  readonly filtered: boolean
}

/**
 * The filters above a list, rendered from data; they apply immediately and are stored in the address. In a narrow window they are one
 * line: the search, and a button that opens the others.
 */
export function ListFilters({ filters, tools, values, onChange, onReset, filtered }: ListFiltersProps) {
  const say = useText(texts)
  const narrow = useNarrow()
  const [isOpen, setOpen] = useState(false)
  const [added, setAdded] = useState<readonly string[]>([])
  const inputs = (shown: readonly Filter[]) =>
    shown.map((filter) => (
      <FilterInput
        key={nameOf(filter)}
        filter={filter}
        values={values}
        onChange={onChange}
        takesFocus={nameOf(filter) === added.at(-1)}
      />
    ))
  const clear = () => {
    setAdded([])
    onReset()
  }
  const reset = filtered && (
    <Button variant="subtle" color="gray" leftSection={<IconFilterOff size={16} />} onClick={clear}>
      {say('reset')}
    </Button>
  )
  const inSheet = filters.filter(({ kind }) => kind !== 'search')
  const isOne = inSheet.length === filters.length && inSheet.length + (tools ? 1 : 0) <= 1
  if (!narrow || isOne || (inSheet.length === 0 && !tools)) {
    const hidden = filters.filter(
      (filter) => 'more' in filter && filter.more && !isSet(values[nameOf(filter)]) && !added.includes(nameOf(filter)),
    )
    return (
      <>
        {filters.length > 0 && (
          <search className={styles.filters}>
            {inputs(filters.filter((filter) => !hidden.includes(filter)))}
            {hidden.length > 0 && <AddFilter filters={hidden} onAdd={(name) => setAdded([...added, name])} />}
            {reset}
          </search>
        )}
        {tools}
      </>
    )
  }
  const set = inSheet.filter((filter) => isSet(values[nameOf(filter)]) && !('required' in filter)).length
  return (
    <search className={styles.filters}>
      {inputs(filters.filter(({ kind }) => kind === 'search'))}
      <Button variant="default" px="sm" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        <IconAdjustmentsHorizontal size={16} />
        <VisuallyHidden>{set > 0 ? say('filtersSet', { count: set }) : say('filters')}</VisuallyHidden>
        {set > 0 && (
          <span className={styles.count} aria-hidden="true">
            {set}
          </span>
        )}
      </Button>
      {isOpen && (
        <Suspense>
          <FilterSheet onClose={() => setOpen(false)}>
            {inputs(inSheet)}
            {tools}
            {reset}
          </FilterSheet>
        </Suspense>
      )}
    </search>
  )
}

/** Filters that are wider than this have a row of their own in the sheet. */
const halfMax = 180

const nameOf = (filter: Filter): string => ('name' in filter ? filter.name : filter.from)
const isSet = (value: SearchValue | undefined): boolean => value !== undefined && value !== '' && value !== 0

/** The filters that are not shown yet, by name. */
function AddFilter({ filters, onAdd }: { filters: readonly Filter[]; onAdd: (name: string) => void }) {
  const say = useText(texts)
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button variant="default" leftSection={<IconPlus size={16} />}>
          {say('addFilter')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {filters.map((filter) => (
          <Menu.Item key={nameOf(filter)} onClick={() => onAdd(nameOf(filter))}>
            {filter.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

interface FilterInputProps extends Pick<ListFiltersProps, 'values' | 'onChange'> {
  readonly filter: Filter
  /** It was just added. */
  readonly takesFocus: boolean
}

function FilterInput({ filter, values, onChange, takesFocus }: FilterInputProps) {
  const say = useText(texts)
  if (filter.kind === 'time') {
    const { from, to, label } = filter
    return (
      <TimeRange
        label={label}
        from={Number(values[from] ?? 0)}
        to={Number(values[to] ?? 0)}
        onChange={(range) => onChange({ [from]: range.from, [to]: range.to })}
      />
    )
  }
  const value = String(values[filter.name] ?? '')
  if (filter.kind === 'lookup') {
    const { name, ...lookup } = filter
    return <LookupFilter {...lookup} value={value} onChange={(next) => onChange({ [name]: next })} takesFocus={takesFocus} />
  }
  if (filter.kind === 'select') {
    return (
      <Select
        aria-label={filter.label}
        placeholder={filter.label}
        data={[...filter.choices]}
        value={value === '' || value === '0' ? null : value}
        onChange={(next) =>
          onChange({ [filter.name]: typeof values[filter.name] === 'number' ? Number(next ?? 0) : (next ?? '') })
        }
        clearable={!filter.required}
        allowDeselect={!filter.required}
        clearButtonProps={{ 'aria-label': say('clear') }}
        defaultDropdownOpened={takesFocus}
        searchable={filter.choices.length > 8}
        w={{ base: '100%', xs: filter.width ?? 150 }}
      />
    )
  }
  return <TextFilter {...filter} value={value} onChange={(text) => onChange({ [filter.name]: text })} takesFocus={takesFocus} />
}

interface TextFilterProps {
  readonly kind: 'search' | 'text'
  readonly label: string
  readonly width?: number
  readonly value: string
  readonly onChange: (value: string) => void
  readonly takesFocus: boolean
}

/** Applies shortly after the last key, at once with Enter. */
function TextFilter({ kind, label, width, value, onChange, takesFocus }: TextFilterProps) {
  const [text, setText] = useState(value)
  const [applied, setApplied] = useState(value)
  const [seen, setSeen] = useState(value)

  // The address changed by other means than this field, such as a reset or the back button.
  if (value !== seen) {
    setSeen(value)
    if (value !== applied) {
      setApplied(value)
      setText(value)
    }
  }

  function apply(next: string): void {
    setApplied(next.trim())
    onChange(next.trim())
  }
  const applyLater = useDebouncedCallback(apply, { delay: 400 })

  return (
    <TextInput
      type="search"
      className={kind === 'search' || (width ?? 0) > halfMax ? styles.wide : undefined}
      aria-label={label}
      placeholder={label}
      leftSection={kind === 'search' ? <IconSearch size={16} /> : undefined}
      w={{ base: '100%', xs: width ?? (kind === 'search' ? 240 : 150) }}
      value={text}
      ref={takesFocus ? focusOnce : undefined}
      onChange={(event) => {
        setText(event.currentTarget.value)
        applyLater(event.currentTarget.value)
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
        applyLater.cancel()
        apply(text)
      }}
    />
  )
}

/** Of a field that was just added. The menu gives the focus back to its button first. */
function focusOnce(field: HTMLInputElement | null): void {
  setTimeout(() => field?.focus(), 0)
}
