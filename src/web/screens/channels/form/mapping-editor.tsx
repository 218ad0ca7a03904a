import { TextInput } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import { Fragment, type ReactNode } from 'react'
import { useText } from '../../../lib/i18n.ts'
import { type RowProps, RowsEditor } from '../../../ui/form/rows-editor.tsx'
import styles from './form.module.css'
import { chainsOf, isModelTwice, type MappingDraft, readMapping, writeMapping } from './mapping.ts'
import { texts } from './texts.ts'

interface MappingEditorProps {
  /** JSON text. */
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error?: ReactNode
  readonly description?: string
  /** The models that the channel serves, if known: others are never mapped. */
  readonly models?: readonly string[]
}

/** Edits the model mapping; shows where each chain of mappings ends, or the circle that it runs in. */
export function MappingEditor({ value, onChange, error, description, models }: MappingEditorProps) {
  const say = useText(texts)
  return (
    <RowsEditor
      label={say('mapping')}
      description={description ?? say('mappingHelp')}
      error={error}
      placeholder={'{"gpt-4o": "gpt-4o-2024-11-20"}'}
      value={value}
      onChange={onChange}
      read={readMapping}
      write={writeMapping}
      newRow={{ from: '', to: '' }}
      addLabel={say('mappingAdd')}
      nameOf={({ from }) => from}
      footer={<Chains text={value} />}
    >
      {(props) => <MappingRow {...props} models={models} />}
    </RowsEditor>
  )
}

function MappingRow({ row, rows, index, change, models }: RowProps<MappingDraft> & Pick<MappingEditorProps, 'models'>) {
  const say = useText(texts)
  const of = say('mappingName', { index: index + 1 })
  const isServed = !models || models.includes(row.from.trim()) || models.some((name) => name.includes('*'))
  const isReached = isServed || rows.some(({ to }) => to.trim() === row.from.trim())
  return (
    <div className={styles.mapping}>
      <TextInput
        aria-label={`${say('mappingFrom')} ${of}`}
        placeholder={say('mappingFrom')}
        spellCheck={false}
        value={row.from}
        error={isModelTwice(rows, index) && say('twice')}
        description={row.from !== '' && !isReached && say('mappingUnserved')}
        onChange={(event) => change({ ...row, from: event.currentTarget.value })}
      />
      <IconArrowRight size={16} className={styles.arrow} aria-hidden="true" />
      <TextInput
        aria-label={`${say('mappingTo')} ${of}`}
        placeholder={say('mappingTo')}
        spellCheck={false}
        value={row.to}
        onChange={(event) => change({ ...row, to: event.currentTarget.value })}
      />
    </div>
  )
}

/** Chains of more than one step, from start to end. */
function Chains({ text }: { text: string }) {
  const say = useText(texts)
  const chains = chainsOf(text)
  if (chains.length === 0) return null
  return (
    <ul className={styles.chains} aria-label={say('chains')}>
      {chains.map(({ steps, isCircle }) => (
        <li key={steps[0]} data-circle={isCircle} role={isCircle ? 'alert' : undefined}>
          {say(isCircle ? 'chainCircle' : 'chain')}{' '}
          {steps.map((step, index) => (
            // A loop returns to an earlier name.
            // biome-ignore lint/suspicious/noArrayIndexKey: the place names a step
            <Fragment key={index}>
              {index > 0 && ' → '}
              <code>{step}</code>
            </Fragment>
          ))}
        </li>
      ))}
    </ul>
  )
}
