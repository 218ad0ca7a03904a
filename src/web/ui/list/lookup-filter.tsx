import { Select } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'

export interface Choice {
  readonly value: string
  readonly label: string
}

/** A hook: the choices that match what is typed, and the chosen one. */
export type LookupChoices = (typed: string, chosen: string) => readonly Choice[]

interface LookupFilterProps {
  readonly label: string
  readonly width: number
  readonly value: string
  readonly onChange: (value: string) => void
  readonly takesFocus: boolean
  readonly useChoices: LookupChoices
}

/** A filter with more choices than are loaded at once: the server searches them by what is typed. */
export function LookupFilter({ label, width, value, onChange, takesFocus, useChoices }: LookupFilterProps) {
  const say = useText(texts)
  const [typed, setTyped] = useState('')
  const choices = useChoices(typed, value)
  return (
    <Select
      aria-label={label}
      placeholder={label}
      data={[...choices]}
      // The server has searched.
      filter={({ options }) => options}
      searchable
      onSearchChange={(text) => setTyped(choices.some((choice) => choice.label === text) ? '' : text)}
      nothingFoundMessage={say('nothingFound')}
      value={value === '' ? null : value}
      onChange={(next) => onChange(next ?? '')}
      clearable
      clearButtonProps={{ 'aria-label': say('clear') }}
      defaultDropdownOpened={takesFocus}
      w={{ base: '100%', xs: width }}
    />
  )
}
