import { Checkbox, Select, TextInput } from '@mantine/core'
import { type Expectation, expectationLabels } from '../../../contract/entities/quality-check.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { type RowProps, RowsEditor } from '../../ui/form/rows-editor.tsx'
import { WholeNumber } from '../../ui/form/whole-number.tsx'
import { isComplete, kinds, newExpectation, readExpectations, writeExpectations } from './form-values.ts'
import styles from './quality.module.css'
import { texts } from './texts.ts'

interface Props {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error?: React.ReactNode
}

/** What the answers have to be. */
export function ExpectationsEditor({ value, onChange, error }: Props) {
  const say = useText(texts)
  return (
    <RowsEditor
      label={say('expectations')}
      description={say('expectationsHelp')}
      error={error}
      value={value}
      onChange={onChange}
      read={readExpectations}
      write={writeExpectations}
      newRow={newExpectation('contains')}
      addLabel={say('addExpectation')}
      nameOf={({ kind }) => kind}
    >
      {(props) => <Row {...props} isChecked={error !== undefined && error !== null} />}
    </RowsEditor>
  )
}

function Row({ row, index, change, isChecked }: RowProps<Expectation> & { isChecked: boolean }) {
  const say = useText(texts)
  const local = useLocal()
  return (
    <div className={styles.expectation}>
      <Select
        aria-label={say('kindOf', { index: index + 1 })}
        allowDeselect={false}
        data={kinds.map((kind) => ({ value: kind, label: local(expectationLabels[kind]) }))}
        value={row.kind}
        onChange={(next) => {
          const kind = kinds.find((each) => each === next)
          if (kind && kind !== row.kind)
            change(isText(row) && isText(newExpectation(kind)) ? { ...row, kind: kind as 'exact' } : newExpectation(kind))
        }}
      />
      <Fields row={row} change={change} label={say('valueOf', { index: index + 1 })} isWrong={isChecked && !isComplete(row)} />
    </div>
  )
}

type TextExpectation = Extract<Expectation, { value: string }>

function isText(row: Expectation): row is TextExpectation {
  return 'value' in row
}

interface FieldsProps {
  readonly row: Expectation
  readonly change: (row: Expectation) => void
  readonly label: string
  readonly isWrong: boolean
}

function Fields({ row, change, label, isWrong }: FieldsProps) {
  const say = useText(texts)
  const common = { 'aria-label': label, spellCheck: false, error: isWrong }
  switch (row.kind) {
    case 'json':
      return (
        <TextInput
          {...common}
          placeholder={say('jsonHint')}
          defaultValue={row.members.join(', ')}
          onChange={(event) => change({ ...row, members: membersOf(event.currentTarget.value) })}
        />
      )
    case 'tool':
      return (
        <>
          <TextInput
            {...common}
            placeholder={say('toolHint')}
            value={row.name}
            onChange={(event) => change({ ...row, name: event.currentTarget.value.trim() })}
          />
          <TextInput
            {...common}
            aria-label={`${label}: JSON`}
            placeholder={say('argumentsHint', { example: '{"city": "Paris"}' })}
            value={row.arguments}
            onChange={(event) => change({ ...row, arguments: event.currentTarget.value })}
          />
        </>
      )
    case 'tokens':
      return (
        <div className={styles.pair}>
          <WholeNumber
            aria-label={`${label}: ${say('minimum')}`}
            leftSection="≥"
            min={0}
            error={isWrong}
            value={row.min}
            onChange={(next) => change({ ...row, min: Number(next) || 0 })}
          />
          <WholeNumber
            aria-label={`${label}: ${say('maximum')}`}
            leftSection="≤"
            min={1}
            error={isWrong}
            value={row.max}
            onChange={(next) => change({ ...row, max: Number(next) || 0 })}
          />
        </div>
      )
    default:
      return (
        <>
          <TextInput
            {...common}
            placeholder={say(`${row.kind}Hint`)}
            value={row.value}
            onChange={(event) => change({ ...row, value: event.currentTarget.value })}
          />
          <Checkbox
            size="xs"
            label={say('ignoreCase')}
            checked={row.ignore_case}
            onChange={(event) => change({ ...row, ignore_case: event.currentTarget.checked })}
          />
        </>
      )
  }
}

function membersOf(text: string): string[] {
  return text
    .split(/[,，]/)
    .map((member) => member.trim())
    .filter((member) => member !== '')
}
