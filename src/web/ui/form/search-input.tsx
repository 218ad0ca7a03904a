import { TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'

interface SearchInputProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** Has the focus when its dialog opens. */
  readonly isFirst?: boolean
}

/** The search over rows that are loaded; `ListFilters` is for what the server searches. */
export function SearchInput({ label, value, onChange, isFirst = false }: SearchInputProps) {
  return (
    <TextInput
      {...(isFirst ? { 'data-autofocus': true } : {})}
      type="search"
      aria-label={label}
      placeholder={label}
      leftSection={<IconSearch size={16} />}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}
