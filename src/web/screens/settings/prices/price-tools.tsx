import { Button, Group, Select } from '@mantine/core'
import { SearchInput } from '../../../ui/form/search-input.tsx'

interface PriceToolsProps<View extends string> {
  readonly search: string
  readonly onSearch: (search: string) => void
  readonly view: View
  /** The first view has all rows. */
  readonly views: readonly [View, ...View[]]
  readonly onView: (view: View) => void
  /** Rows that match. */
  readonly count: number
  readonly onSelectAll: () => void
  readonly say: (key: View | 'search' | 'view' | 'selectAll', params?: { count: number }) => string
}

/** Search and filter of a price list, and the button that selects all matching rows. */
export function PriceTools<View extends string>(props: PriceToolsProps<View>) {
  const { search, onSearch, view, views, onView, count, onSelectAll, say } = props
  return (
    <Group gap="xs">
      <SearchInput label={say('search')} value={search} onChange={onSearch} />
      <Select
        aria-label={say('view')}
        data={views.map((value) => ({ value, label: say(value) }))}
        allowDeselect={false}
        value={view}
        onChange={(chosen) => onView(views.find((known) => known === chosen) ?? views[0])}
      />
      <Button variant="subtle" disabled={count === 0} onClick={onSelectAll}>
        {say('selectAll', { count })}
      </Button>
    </Group>
  )
}
