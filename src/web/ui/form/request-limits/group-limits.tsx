import { limitsOfGroupMax } from '../../../../contract/entities/request-limit.ts'
import { useText } from '../../../lib/i18n.ts'
import shared from '../../shared.module.css'
import { type RowProps, RowsEditor, type RowsEditorProps } from '../rows-editor.tsx'
import { AmountInput } from './amount-input.tsx'
import { DurationInput } from './duration-input.tsx'
import { GroupSelect } from './group-select.tsx'
import {
  amounts,
  faultsOfLimit,
  type LimitRow,
  limitsNothing,
  newLimit,
  otherGroups,
  readLimits,
  writeLimits,
} from './limit-rows.ts'
import { PresetRows } from './preset-rows.tsx'
import { limitPresets } from './presets.ts'
import styles from './request-limits.module.css'
import { texts } from './texts.ts'

export type LimitsProps = Pick<RowsEditorProps<unknown>, 'label' | 'description' | 'error' | 'disabled' | 'value' | 'onChange'>

/** The limits of groups: requests, tokens and concurrent requests within a window, one row for each. */
export function GroupLimits(props: LimitsProps) {
  const say = useText(texts)
  const presets = limitPresets.map(({ label, limit }) => ({ label: say(label), row: { ...newLimit, ...limit } }))
  return (
    <RowsEditor<LimitRow>
      {...props}
      error={props.error && isFaulty(props.value) ? say('checkRows') : props.error}
      read={readLimits}
      write={writeLimits}
      newRow={newLimit}
      addLabel={say('add')}
      nameOf={({ group }) => (group === otherGroups ? '' : group)}
      head={<LimitHead />}
      footer={<PresetRows {...props} read={readLimits} write={writeLimits} presets={presets} />}
    >
      {(row) => <LimitFields {...row} disabled={props.disabled} />}
    </RowsEditor>
  )
}

function LimitHead() {
  const say = useText(texts)
  return (
    <div className={styles.limits}>
      {(['group', 'window', ...amounts] as const).map((name) => (
        <span key={name}>{say(name)}</span>
      ))}
    </div>
  )
}

function isFaulty(text: string): boolean {
  const rows = readLimits(text)
  return !rows || rows.some((row, index) => Object.keys(faultsOfLimit(row, { rows, index })).length > 0)
}

function LimitFields({
  row,
  rows,
  index,
  change,
  disabled = false,
}: RowProps<LimitRow> & { readonly disabled: boolean | undefined }) {
  const say = useText(texts)
  const faults = faultsOfLimit(row, { rows, index })
  const of = say('of', { index: index + 1 })
  const errorAt = (field: keyof LimitRow) => faults[field] && say(faults[field], { count: limitsOfGroupMax })
  return (
    <>
      <div className={styles.limits}>
        <GroupSelect
          label={`${say('group')} ${of}`}
          offersOthers
          value={row.group}
          disabled={disabled}
          error={errorAt('group')}
          onChange={(group) => change({ ...row, group })}
        />
        <div className={styles.wide}>
          <DurationInput
            aria-label={`${say('window')} ${of}`}
            unitLabel={`${say('unit')} ${of}`}
            value={row.seconds}
            disabled={disabled}
            error={errorAt('seconds')}
            onChange={(seconds) => change({ ...row, seconds })}
          />
        </div>
        {amounts.map((name) => (
          <AmountInput
            key={name}
            label={say(name)}
            of={of}
            mayBeNone
            value={row[name]}
            disabled={disabled}
            error={errorAt(name)}
            onChange={(amount) => change({ ...row, [name]: amount })}
          />
        ))}
      </div>
      {limitsNothing(row) && (
        <small className={shared.quiet}>{say(row.group === otherGroups ? 'limitsNobody' : 'limitsNothing')}</small>
      )}
    </>
  )
}
