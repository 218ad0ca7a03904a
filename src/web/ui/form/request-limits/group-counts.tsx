import { formatCount } from '../../../lib/format.ts'
import { useText } from '../../../lib/i18n.ts'
import { type RowProps, RowsEditor } from '../rows-editor.tsx'
import { AmountInput } from './amount-input.tsx'
import type { LimitsProps } from './group-limits.tsx'
import { GroupSelect } from './group-select.tsx'
import { type CountRow, faultsOfCount, newCount, readCounts, writeCounts } from './limit-rows.ts'
import { PresetRows } from './preset-rows.tsx'
import styles from './request-limits.module.css'
import { texts } from './texts.ts'

const amounts = ['requests', 'completed'] as const

/** The limits of requests and of completed requests by group within the period that all groups share, one row for each group. */
export function GroupCounts(props: LimitsProps) {
  const say = useText(texts)
  const presets = [
    { label: say('requestsOfPeriod', { count: 60 }), row: { ...newCount, requests: 60, completed: 60 } },
    { label: say('completedOfPeriod', { count: 60 }), row: { ...newCount, completed: 60 } },
    { label: say('completedOfPeriod', { count: formatCount(1000) }), row: newCount },
  ]
  return (
    <RowsEditor<CountRow>
      {...props}
      error={props.error && isFaulty(props.value) ? say('checkRows') : props.error}
      read={readCounts}
      write={writeCounts}
      newRow={newCount}
      addLabel={say('add')}
      nameOf={({ group }) => group}
      head={
        <div className={styles.counts}>
          {(['group', ...amounts] as const).map((name) => (
            <span key={name}>{say(name)}</span>
          ))}
        </div>
      }
      footer={<PresetRows {...props} read={readCounts} write={writeCounts} presets={presets} />}
    >
      {(row) => <CountFields {...row} disabled={props.disabled} isChecked={props.error !== undefined} />}
    </RowsEditor>
  )
}

function isFaulty(text: string): boolean {
  const rows = readCounts(text)
  return !rows || rows.some((row, index) => Object.keys(faultsOfCount(row, { rows, index })).length > 0)
}

type FieldsProps = RowProps<CountRow> & { readonly disabled: boolean | undefined; readonly isChecked: boolean }

/** `isChecked`: a group that is not chosen yet is reported, too. */
function CountFields({ row, rows, index, change, disabled = false, isChecked }: FieldsProps) {
  const say = useText(texts)
  const faults = faultsOfCount(row, { rows, index })
  const of = say('of', { index: index + 1 })
  const errorAt = (field: keyof CountRow) => faults[field] && say(faults[field])
  return (
    <div className={styles.counts}>
      <GroupSelect
        label={`${say('group')} ${of}`}
        value={row.group}
        disabled={disabled}
        error={(row.group !== '' || isChecked) && errorAt('group')}
        onChange={(group) => change({ ...row, group })}
      />
      {amounts.map((name) => (
        <AmountInput
          key={name}
          label={say(name)}
          of={of}
          mayBeNone={name === 'requests'}
          value={row[name]}
          disabled={disabled}
          error={errorAt(name)}
          onChange={(amount) => change({ ...row, [name]: amount })}
        />
      ))}
    </div>
  )
}
