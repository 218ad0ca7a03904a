import { Input } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type QualityCheck, qualityFields } from '../../../contract/entities/quality-check.ts'
import { blankFaults } from '../../../contract/fields.ts'
import { localOf, useLocal, useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { DrawerForm, DrawerFormWaiting } from '../../ui/dialog/drawer-form.tsx'
import { Choices } from '../../ui/form/choices.tsx'
import { FieldsForm } from '../../ui/form/fields-form.tsx'
import { JsonInput } from '../../ui/form/json-input.tsx'
import { Disclosure } from '../../ui/page/disclosure.tsx'
import { ExpectationsEditor } from './expectations-editor.tsx'
import { areComplete, inputOf, isTools, newValues, questionOf, type Values, valuesOf } from './form-values.ts'
import { intervalMinutes, intervalText } from './intervals.ts'
import { type Preset, presets } from './presets.ts'
import styles from './quality.module.css'
import { texts } from './texts.ts'
import { checkLines } from './use-check-writes.ts'

interface Props {
  readonly check: QualityCheck | undefined
  readonly onDone: () => void
}

/** The form of a new check from a preset, or of an existing one. */
export function CheckForm({ check, onDone }: Props) {
  const models = useQuery(read('GET /api/channel/models_enabled'))
  if (models.isPending) return <DrawerFormWaiting />
  return <Fields check={check} models={models.data ?? []} onDone={onDone} />
}

function Fields({ check, models, onDone }: Props & { models: readonly string[] }) {
  const say = useText(texts)
  const local = useLocal()
  const { data: channels } = useQuery(read('GET /api/channel/', { query: { p: 0, page_size: 1000 } }))
  const [first] = presets
  const form = useForm<Values>({
    initialValues: check ? valuesOf(check) : newValues(first, local(first.label), models.slice(0, 1)),
    validate: (values) => ({
      ...blankFaults(qualityFields.question, values, localOf),
      ...(isTools(values.tools) ? {} : { tools: say('toolsInvalid') }),
      ...(areComplete(values.expectations) ? {} : { expectations: say('expectationsInvalid') }),
    }),
  })
  const { save, busy } = useSave(check, onDone)
  const rows = channels ? ('items' in channels ? channels.items : channels) : []
  const intervals = new Set([...intervalMinutes, Number(form.values.interval_minutes)])

  function choose(preset: Preset): void {
    const names = presets.map(({ label }) => local(label))
    const isOwnName = form.values.name.trim() !== '' && !names.includes(form.values.name)
    form.setValues({ ...questionOf(preset), ...(isOwnName ? {} : { name: local(preset.label) }) })
  }

  return (
    <DrawerForm busy={busy} dirty={form.isDirty()} onSubmit={form.onSubmit(save)}>
      {!check && (
        <Input.Wrapper label={say('preset')} labelElement="div" description={say('presetHint')}>
          <Choices offers={presets.map((preset) => ({ label: local(preset.label), onClick: () => choose(preset) }))} />
        </Input.Wrapper>
      )}
      <FieldsForm
        fields={qualityFields.question}
        form={form}
        inputs={{
          models: { data: models },
          channels: { data: rows.map(({ id, name }) => ({ value: String(id), label: `${name} (#${id})` })) },
        }}
        draw={{
          expectations: <ExpectationsEditor {...form.getInputProps('expectations')} value={form.values.expectations} />,
          tools: <Tools {...form.getInputProps('tools')} value={form.values.tools} />,
        }}
      />
      <h3 className={styles.section}>{say('schedule')}</h3>
      <FieldsForm
        fields={qualityFields.schedule}
        form={form}
        inputs={{
          interval_minutes: {
            data: [...intervals]
              .sort((one, other) => one - other)
              .map((minutes) => ({ value: String(minutes), label: intervalText(minutes, say) })),
          },
        }}
      />
      <h3 className={styles.section}>{say('departure')}</h3>
      <FieldsForm fields={qualityFields.departure} form={form} />
    </DrawerForm>
  )
}

interface ToolsProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly error?: ReactNode
}

/** Few checks have them. */
function Tools({ value, onChange, error }: ToolsProps) {
  const say = useText(texts)
  return (
    <Disclosure title={say('tools')} hint={say('toolsHelp')} opens={value !== '' || Boolean(error)}>
      <JsonInput aria-label={say('tools')} value={value} onChange={onChange} error={error} />
    </Disclosure>
  )
}

function useSave(check: QualityCheck | undefined, onDone: () => void) {
  const say = useText(texts)
  const done = { invalidates: checkLines, onSuccess: onDone } as const
  const create = useWrite('POST /api/quality_check/', { ...done, success: ({ name }) => say('created', { name }) })
  const change = useWrite('PUT /api/quality_check/:id', { ...done, success: ({ name }) => say('saved', { name }) })

  function save(values: Values): void {
    const body = inputOf(values)
    if (check) change.mutate({ params: { id: check.id }, body })
    else create.mutate({ body })
  }
  return { save, busy: create.isPending || change.isPending }
}
