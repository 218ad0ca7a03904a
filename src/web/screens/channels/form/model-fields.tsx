import { Autocomplete, Button, TagsInput } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import type { Channel, ChannelType } from '../../../../contract/entities/channel.ts'
import { useText } from '../../../lib/i18n.ts'
import { read } from '../../../lib/query.ts'
import { toast } from '../../../lib/toast.ts'
import { Notice } from '../../../ui/page/notice.tsx'
import { useEndText } from '../../../ui/view/model-end.tsx'
import styles from './form.module.css'
import type { ChannelFormState } from './form-values.ts'
import { MappingEditor } from './mapping-editor.tsx'
import { texts } from './texts.ts'
import { TypedModels, usePastedList } from './typed-models.tsx'
import { useFetchModels } from './use-fetch-models.ts'

const ModelPicker = lazy(async () => ({ default: (await import('./model-picker.tsx')).ModelPicker }))

interface ModelFieldsProps {
  readonly form: ChannelFormState
  readonly type: ChannelType | undefined
  /** The saved channel. */
  readonly channel: Channel | undefined
}

/** The models that the channel serves, and their names at the upstream. */
export function ModelFields({ form, type, channel }: ModelFieldsProps) {
  const say = useText(texts)
  const { models } = form.values
  const paste = usePastedList(form)
  const patterns = models.filter((model) => model.includes('*'))
  const named = models.filter((model) => !model.includes('*'))

  return (
    <>
      <div>
        <TagsInput
          label={say('modelsField')}
          description={
            patterns.length > 0 ? say('patterns', { patterns: patterns.join(', ') }) : say('modelsHelp', { example: 'gpt-4*' })
          }
          withAsterisk
          placeholder={say('modelsPlaceholder')}
          data={[...new Set([...(type?.newest ?? []), ...(type?.models ?? [])])]}
          maxDropdownHeight={240}
          splitChars={[',', '，', '\n', '\r', '\t']}
          isDuplicate={(model, chosen) => chosen.includes(model.trim())}
          onDuplicate={() => toast.warn(say('modelsExist'))}
          wrapperProps={{ onPasteCapture: paste }}
          classNames={{ pillsList: styles.models ?? '' }}
          {...form.getInputProps('models')}
        />
        <div className={styles.tools}>
          <ModelTools form={form} type={type} channel={channel} />
          <span className={styles.count}>{say('modelsChosen', { count: models.length })}</span>
        </div>
        <TypedModels form={form} />
        <Ends channel={channel} models={models} />
      </div>
      <MappingEditor
        value={form.values.model_mapping}
        onChange={(text) => form.setFieldValue('model_mapping', text)}
        error={form.errors.model_mapping}
        models={models}
      />
      <Autocomplete
        label={say('testModel')}
        description={say('testModelHelp')}
        placeholder={named[0]}
        data={[...new Set(named)]}
        limit={50}
        {...form.getInputProps('test_model')}
      />
    </>
  )
}

/** The chosen models of a saved channel that end. */
function Ends({ channel, models }: { channel: Channel | undefined; models: readonly string[] }) {
  const say = useText(texts)
  const endText = useEndText()
  const ends = (channel?.model_ends ?? []).filter(({ model }) => models.includes(model))
  if (ends.length === 0) return null
  return (
    <Notice kind="warn" title={say('modelsEnd', { count: ends.length })}>
      {ends.slice(0, endsShown).map((end) => (
        <div key={end.model}>{`${end.model}: ${endText(end)}`}</div>
      ))}
    </Notice>
  )
}

const endsShown = 10

/** The tools that add or remove many models at once. */
function ModelTools({ form, type, channel }: ModelFieldsProps) {
  const say = useText(texts)
  const client = useQueryClient()
  const upstream = useFetchModels(channel)
  const [listed, setListed] = useState<readonly string[]>()
  const { models, model_mapping } = form.values

  function add(names: readonly string[]): void {
    form.setFieldValue('models', (chosen) => [...new Set([...chosen, ...names])])
  }

  async function addAll(): Promise<void> {
    const known = await client.fetchQuery({ ...read('GET /api/channel/models'), staleTime: Number.POSITIVE_INFINITY })
    add(known.map(({ id }) => id))
  }

  const look = { size: 'compact-sm', variant: 'default' } as const
  return (
    <>
      <Button
        {...look}
        variant="light"
        disabled={!type?.lists_models}
        title={type?.lists_models ? undefined : say('fetchUnsupported')}
        loading={upstream.isPending}
        onClick={() => upstream.mutate(form.getValues(), { onSuccess: setListed })}
      >
        {say('fetch')}
      </Button>
      <Button {...look} disabled={!type?.newest.length} onClick={() => add(type?.newest ?? [])}>
        {say('fillType')}
      </Button>
      <Button {...look} onClick={() => void addAll()}>
        {say('fillAll')}
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
      {listed && (
        <Suspense>
          <ModelPicker
            listed={listed}
            chosen={models}
            isPreset={models.join() === type?.newest.join()}
            mapping={model_mapping}
            onChoose={(chosen) => form.setFieldValue('models', [...chosen])}
            onClose={() => setListed(undefined)}
          />
        </Suspense>
      )}
    </>
  )
}
