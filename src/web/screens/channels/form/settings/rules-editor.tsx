import { ActionIcon, Code, Select, TextInput, Tooltip } from '@mantine/core'
import { IconArrowUp, IconFilter } from '@tabler/icons-react'
import { useLocal, useText } from '../../../../lib/i18n.ts'
import { type RowProps, RowsEditor } from '../../../../ui/form/rows-editor.tsx'
import shared from '../../../../ui/shared.module.css'
import styles from '../form.module.css'
import type { Setting } from '../setting.ts'
import { useMemberText } from './member-text.ts'
import { RuleCondition } from './rule-condition.tsx'
import { faultsOfRule, newCondition, newRule, type RuleDraft, readRules, readValue, ruleActions, writeRules } from './rules.ts'
import { texts } from './texts.ts'

/** The channel's changes to the body of each request. */
export function RulesEditor({ setting }: { setting: Setting }) {
  const say = useText(texts)
  const text = useMemberText(setting, 'param_override')
  return (
    <RowsEditor
      {...text}
      label={say('rules')}
      description={say('rulesHelp')}
      placeholder={'[{"set": "temperature", "to": 0.7, "when": {"model": "gpt-4*"}}]'}
      read={readRules}
      write={writeRules}
      newRow={newRule}
      addLabel={say('ruleAdd')}
      nameOf={({ path }) => path}
    >
      {(props) => <RuleRow {...props} isChecked={text.error !== undefined} />}
    </RowsEditor>
  )
}

/** `isChecked`: empty fields are reported, too. */
function RuleRow({ row, index, change, moveUp, isChecked }: RowProps<RuleDraft> & { isChecked: boolean }) {
  const say = useText(texts)
  const local = useLocal()
  const faults = faultsOfRule(row)
  const of = say('ruleName', { index: index + 1 })
  const patch = (changes: Partial<RuleDraft>) => change({ ...row, ...changes })
  const pathFault = (row.path !== '' || isChecked) && faults.path
  const valueFault = (row.to !== '' || isChecked) && faults.to

  return (
    <div className={styles.rule}>
      <div className={styles.ruleLine}>
        <Select
          aria-label={`${say('ruleAction')} ${of}`}
          data={ruleActions.map((value) => ({ value, label: say(value) }))}
          allowDeselect={false}
          value={row.action}
          onChange={(action) => action && patch({ action })}
        />
        <TextInput
          aria-label={`${say('rulePath')} ${of}`}
          placeholder="temperature"
          classNames={{ input: shared.code ?? '' }}
          spellCheck={false}
          value={row.path}
          error={pathFault && local(pathFault)}
          onChange={(event) => patch({ path: event.currentTarget.value })}
        />
        {row.action !== 'remove' && (
          <TextInput
            aria-label={`${say(row.action === 'rename' ? 'ruleNewPath' : 'ruleValue')} ${of}`}
            placeholder={row.action === 'rename' ? 'max_completion_tokens' : '0.7'}
            classNames={{ input: shared.code ?? '' }}
            spellCheck={false}
            value={row.to}
            error={valueFault && (row.action === 'rename' ? local(valueFault) : say('invalidValue'))}
            rightSection={row.action !== 'rename' && <KindOfValue text={row.to} />}
            rightSectionWidth="auto"
            rightSectionProps={{ className: styles.kind ?? '' }}
            onChange={(event) => patch({ to: event.currentTarget.value })}
          />
        )}
        <div className={styles.ruleTools}>
          <Tooltip label={say('condition')}>
            <ActionIcon
              aria-label={`${say('condition')} ${of}`}
              aria-pressed={row.when !== undefined}
              variant={row.when ? 'light' : 'subtle'}
              color={row.when ? 'sluice' : 'gray'}
              onClick={() => patch({ when: row.when ? undefined : newCondition })}
            >
              <IconFilter size={16} />
            </ActionIcon>
          </Tooltip>
          <Tooltip label={say('moveUp')}>
            <ActionIcon aria-label={`${say('moveUp')} ${of}`} disabled={!moveUp} onClick={moveUp}>
              <IconArrowUp size={16} />
            </ActionIcon>
          </Tooltip>
        </div>
      </div>
      {row.when && <RuleCondition condition={row.when} faults={faults} of={of} onChange={(when) => patch({ when })} />}
    </div>
  )
}

/** The type of a typed value, since a text may look like a number. */
function KindOfValue({ text }: { text: string }) {
  const say = useText(texts)
  const value = readValue(text)
  if (value === undefined) return null
  const kind = value === null ? 'kindNull' : Array.isArray(value) ? 'kindList' : kinds[typeof value]
  return kind ? <Code>{say(kind)}</Code> : null
}

const kinds: Readonly<Record<string, 'kindNumber' | 'kindText' | 'kindFlag' | 'kindObject'>> = {
  number: 'kindNumber',
  string: 'kindText',
  boolean: 'kindFlag',
  object: 'kindObject',
}
