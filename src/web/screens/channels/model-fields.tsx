import { Anchor, Autocomplete, Button, TagsInput, TextInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Channel, ChannelType } from '../../../contract/entities/channel.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { JsonInput } from '../../ui/json-input.tsx'
import styles from './channels.module.css'
import { type ChannelFormState, namesOf } from './form-values.ts'
import { texts } from './texts.ts'
import { useFetchModels } from './use-fetch-models.ts'

const mappingTemplate = JSON.stringify({ 'gpt-4o': 'gpt-4o-2024-11-20' }, null, 2)

export interface ModelFieldsProps {
  readonly form: ChannelFormState
  readonly type: ChannelType | undefined
  /** The saved one. */
  readonly channel: Channel | undefined
}

/** Which models the channel serves, and under which names the upstream knows them. */
export function ModelFields({ form, type, channel }: ModelFieldsProps) {
  const say = useText(texts)
  const { models } = form.values

  return (
    <>
      <div>
        <TagsInput
          label={say('modelsField')}
          withAsterisk
          placeholder={say('modelsPlaceholder')}
          data={[...(type?.models ?? [])]}
          maxDropdownHeight={240}
          splitChars={[',', '，', '\n', '\r', '\t']}
          isDuplicate={(model, chosen) => chosen.includes(model.trim())}
          onDuplicate={() => toast.warn(say('modelsExist'))}
          classNames={{ pillsList: styles.models ?? '' }}
          {...form.getInputProps('models')}
        />
        <div className={styles.tools}>
          <ModelTools form={form} type={type} channel={channel} />
          <span className={styles.count}>{say('modelsChosen', { count: models.length })}</span>
        </div>
        <CustomModels form={form} />
      </div>
      <JsonInput
        label={say('mapping')}
        description={say('mappingHelp')}
        placeholder={mappingTemplate}
        minRows={3}
        aside={
          form.values.model_mapping.trim() === '' && (
            <Anchor
              component="button"
              type="button"
              size="xs"
              onClick={() => form.setFieldValue('model_mapping', mappingTemplate)}
            >
              {say('template')}
            </Anchor>
          )
        }
        value={form.values.model_mapping}
        {...form.getInputProps('model_mapping')}
      />
      <Autocomplete
        label={say('testModel')}
        description={say('testModelHelp')}
        placeholder={models[0]}
        data={[...new Set(models)]}
        limit={50}
        {...form.getInputProps('test_model')}
      />
    </>
  )
}

/** Names typed by hand. */
function CustomModels({ form }: { form: ChannelFormState }) {
  const say = useText(texts)
  const [text, setText] = useState('')

  function add(): void {
    const names = namesOf(text)
    if (names.length === 0) return
    const { models } = form.getValues()
    if (names.some((name) => models.includes(name))) toast.warn(say('modelsExist'))
    form.setFieldValue('models', [...new Set([...models, ...names])])
    setText('')
  }

  return (
    <div className={styles.custom}>
      <TextInput
        aria-label={say('customModels')}
        placeholder={say('customModels')}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
          event.preventDefault()
          add()
        }}
      />
      <Button variant="default" onClick={add}>
        {say('fill')}
      </Button>
    </div>
  )
}

/** Many models at once. What is added joins what is chosen. */
function ModelTools({ form, type, channel }: ModelFieldsProps) {
  const say = useText(texts)
  const client = useQueryClient()
  const upstream = useFetchModels(channel)
  const { models } = form.values

  /** Answers how many were new. */
  function add(names: readonly string[]): number {
    const joined = [...new Set([...form.getValues().models, ...names])]
    const added = joined.length - form.getValues().models.length
    if (added > 0) form.setFieldValue('models', joined)
    return added
  }

  async function addAll(): Promise<void> {
    const known = await client.fetchQuery({ ...read('GET /api/channel/models'), staleTime: Number.POSITIVE_INFINITY })
    add(known.map(({ id }) => id))
  }

  function addUpstream(): void {
    upstream.mutate(form.getValues(), {
      onSuccess: (names) => toast.success(say('fetched', { total: names.length, added: add(names) })),
    })
  }

  const look = { size: 'compact-sm', variant: 'default' } as const
  return (
    <>
      <Button {...look} disabled={!type?.models.length} onClick={() => add(type?.models ?? [])}>
        {say('fillType')}
      </Button>
      <Button {...look} onClick={() => void addAll()}>
        {say('fillAll')}
      </Button>
      <Button
        {...look}
        disabled={!type?.lists_models}
        title={type?.lists_models ? undefined : say('fetchUnsupported')}
        loading={upstream.isPending}
        onClick={addUpstream}
      >
        {say('fetch')}
      </Button>
      <Button
        {...look}
        variant="subtle"
        color="red"
        disabled={models.length === 0}
        onClick={() => form.setFieldValue('models', [])}
      >
        {say('clearModels')}
      </Button>
    </>
  )
}
