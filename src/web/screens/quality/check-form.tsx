import { Input, MultiSelect, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import type { QualityCheck } from '../../../contract/entities/quality-check.ts'
import { useLocal, useText } from '../../lib/i18n.ts'
import { read, useWrite } from '../../lib/query.ts'
import { DrawerForm, DrawerFormWaiting } from '../../ui/dialog/drawer-form.tsx'
import { Choices } from '../../ui/form/choices.tsx'
import { JsonInput } from '../../ui/form/json-input.tsx'
import { WholeNumber } from '../../ui/form/whole-number.tsx'
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
    validate: {
      name: (name) => name.trim() === '' && say('nameNeeded'),
      models: (chosen) => chosen.length === 0 && say('modelsNeeded'),
      prompt: (prompt) => prompt.trim() === '' && say('promptNeeded'),
      tools: (tools) => !isTools(tools) && say('toolsInvalid'),
      expectations: (expectations) => !areComplete(expectations) && say('expectationsInvalid'),
    },
  })
  const { save, busy } = useSave(check, onDone)
  const rows = channels ? ('items' in channels ? channels.items : channels) : []
  const intervals = new Set([...intervalMinutes, Number(form.values.interval_minutes)])
  const number = (name: 'samples' | 'max_output_tokens' | 'window_runs' | 'threshold' | 'drop') => form.getInputProps(name)

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
      <TextInput label={say('name')} withAsterisk maxLength={60} {...form.getInputProps('name')} />
      <TagsInput
        label={say('models')}
        description={say('modelsHelp')}
        withAsterisk
        data={[...models]}
        limit={100}
        maxTags={20}
        splitChars={[',', '，', ' ']}
        acceptValueOnBlur
        {...form.getInputProps('models')}
      />
      <MultiSelect
        label={say('channels')}
        description={say('channelsHelp')}
        searchable
        limit={100}
        data={rows.map(({ id, name }) => ({ value: String(id), label: `${name} (#${id})` }))}
        {...form.getInputProps('channels')}
      />
      <Textarea label={say('system')} autosize minRows={1} maxRows={8} {...form.getInputProps('system')} />
      <Textarea label={say('prompt')} withAsterisk autosize minRows={2} maxRows={10} {...form.getInputProps('prompt')} />
      <ExpectationsEditor
        value={form.values.expectations}
        onChange={(value) => form.setFieldValue('expectations', value)}
        error={form.errors.expectations}
      />
      <Disclosure
        title={say('tools')}
        hint={say('toolsHelp')}
        opens={form.values.tools !== '' || form.errors.tools !== undefined}
      >
        <JsonInput
          aria-label={say('tools')}
          value={form.values.tools}
          onChange={(value) => form.setFieldValue('tools', value)}
          error={form.errors.tools}
        />
      </Disclosure>
      <h3 className={styles.section}>{say('schedule')}</h3>
      <Switch label={say('enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
      <div className={styles.pair}>
        <Select
          label={say('interval')}
          allowDeselect={false}
          data={[...intervals]
            .sort((one, other) => one - other)
            .map((minutes) => ({ value: String(minutes), label: intervalText(minutes, say) }))}
          {...form.getInputProps('interval_minutes')}
        />
        <WholeNumber label={say('samples')} min={1} {...number('samples')} />
      </div>
      <WholeNumber label={say('outputTokens')} min={1} {...number('max_output_tokens')} />
      <h3 className={styles.section}>{say('departure')}</h3>
      <div className={styles.pair}>
        <WholeNumber label={say('window')} min={1} {...number('window_runs')} />
        <WholeNumber label={say('threshold')} min={0} {...number('threshold')} />
      </div>
      <WholeNumber label={say('drop')} description={say('dropHelp')} min={0} {...number('drop')} />
    </DrawerForm>
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
