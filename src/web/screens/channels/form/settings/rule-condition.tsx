import { Select, TextInput } from '@mantine/core'
import { useLocal, useText } from '../../../../lib/i18n.ts'
import shared from '../../../../ui/shared.module.css'
import styles from '../form.module.css'
import { type ConditionDraft, conditionTests, type faultsOfRule } from './rules.ts'
import { texts } from './texts.ts'

interface RuleConditionProps {
  readonly condition: ConditionDraft
  readonly faults: ReturnType<typeof faultsOfRule>
  /** The name of the rule, for the labels of the fields. */
  readonly of: string
  readonly onChange: (condition: ConditionDraft) => void
}

/** When a rule applies: to these models, and to bodies with such a member. */
export function RuleCondition({ condition, faults, of, onChange }: RuleConditionProps) {
  const say = useText(texts)
  const local = useLocal()
  const { models, path, test, value } = condition
  const code = { classNames: { input: shared.code ?? '' }, spellCheck: false } as const

  return (
    <div className={styles.condition}>
      <span className={styles.conditionWord}>{say('onlyWhen')}</span>
      <TextInput
        {...code}
        aria-label={`${say('conditionModels')} ${of}`}
        placeholder={say('conditionModels')}
        value={models}
        error={faults.models && local(faults.models)}
        onChange={(event) => onChange({ ...condition, models: event.currentTarget.value })}
      />
      <TextInput
        {...code}
        aria-label={`${say('conditionPath')} ${of}`}
        placeholder={say('conditionPath')}
        value={path}
        error={faults.whenPath && local(faults.whenPath)}
        onChange={(event) => onChange({ ...condition, path: event.currentTarget.value })}
      />
      <Select
        aria-label={`${say('conditionTest')} ${of}`}
        data={conditionTests.map((name) => ({ value: name, label: say(name) }))}
        allowDeselect={false}
        disabled={path === ''}
        value={test}
        onChange={(next) => next && onChange({ ...condition, test: next })}
      />
      {test === 'equals' && (
        <TextInput
          {...code}
          aria-label={`${say('conditionValue')} ${of}`}
          placeholder={say('conditionValue')}
          disabled={path === ''}
          value={value}
          error={value !== '' && faults.value && local(faults.value)}
          onChange={(event) => onChange({ ...condition, value: event.currentTarget.value })}
        />
      )}
    </div>
  )
}
