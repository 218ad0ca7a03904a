import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { read } from '../../../lib/query.ts'
import { otherGroups } from './limit-rows.ts'
import styles from './request-limits.module.css'
import { texts } from './texts.ts'

interface GroupSelectProps {
  readonly label: string
  readonly value: string
  readonly onChange: (group: string) => void
  readonly error: ReactNode
  readonly disabled: boolean | undefined
  /** All other groups together are offered, too. */
  readonly offersOthers?: true
}

/** One of the groups of the site. A saved one that is gone stays visible. */
export function GroupSelect({ label, value, onChange, error, disabled = false, offersOthers }: GroupSelectProps) {
  const say = useText(texts)
  const { data: groups } = useQuery(read('GET /api/group/'))
  const names = [...new Set([...(offersOthers ? [otherGroups] : []), ...(groups ?? []), ...(value === '' ? [] : [value])])]
  const labelOf = (group: string) => {
    if (group === otherGroups) return say('otherGroups')
    return groups && !groups.includes(group) ? say('unknownGroup', { group }) : group
  }
  return (
    <Select
      className={styles.wide ?? ''}
      aria-label={label}
      placeholder={say('chooseGroup')}
      searchable
      allowDeselect={false}
      data={names.map((group) => ({ value: group, label: labelOf(group) }))}
      value={value === '' ? null : value}
      onChange={(next) => onChange(next ?? value)}
      error={error}
      disabled={disabled}
    />
  )
}
