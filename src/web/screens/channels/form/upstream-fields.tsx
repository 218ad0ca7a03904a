import { Anchor, Select, Textarea, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Channel, ChannelType } from '../../../../contract/entities/channel.ts'
import { channelUpstreamFields } from '../../../../contract/entities/channel-fields.ts'
import { useLocal, useText } from '../../../lib/i18n.ts'
import { isJson } from '../../../lib/json.ts'
import { read } from '../../../lib/query.ts'
import { FieldsForm } from '../../../ui/form/fields-form.tsx'
import shared from '../../../ui/shared.module.css'
import { Tag } from '../../../ui/view/tag.tsx'
import { typeColor } from '../use-channel-types.ts'
import { type ChannelFormState, withoutSlash } from './form-values.ts'
import { KeyField } from './key-field.tsx'
import { texts } from './texts.ts'

/** Types with their own rule for the address. */
const baseUrlHelps: Readonly<Record<number, keyof typeof texts>> = {
  3: 'baseUrlAzure',
  8: 'baseUrlWhole',
  36: 'baseUrlMusic',
}

interface UpstreamFieldsProps {
  readonly form: ChannelFormState
  readonly types: readonly ChannelType[]
  readonly type: ChannelType | undefined
  /** The saved channel. */
  readonly channel: Channel | undefined
  /** Opens its list of keys. */
  readonly onKeys: (channel: Channel) => void
}

/** The destination of requests and its credentials. */
export function UpstreamFields({ form, types, type, channel, onKeys }: UpstreamFieldsProps) {
  const local = useLocal()
  const groups = useQuery(read('GET /api/group/'))
  const groupNames = new Set([...(groups.data ?? []), ...form.values.groups])

  return (
    <FieldsForm
      fields={channelUpstreamFields}
      form={form}
      inputs={{ name: { isFirst: channel === undefined }, groups: { data: [...groupNames] } }}
      draw={{
        type: <TypeField form={form} types={types} type={type} />,
        base_url: <BaseUrlField form={form} type={type} />,
        key: <KeyField form={form} type={type} channel={channel} onKeys={onKeys} />,
        other: type?.other_label && <OtherField form={form} label={local(type.other_label)} placeholder={type.other_default} />,
      }}
    />
  )
}

function BaseUrlField({ form, type }: Pick<UpstreamFieldsProps, 'form' | 'type'>) {
  const say = useText(texts)
  return (
    <TextInput
      type="url"
      inputMode="url"
      label={say('baseUrl')}
      description={say(baseUrlHelp(type), { model: '{model}' })}
      placeholder={type?.base_url || 'https://'}
      withAsterisk={type?.needs_base_url}
      spellCheck={false}
      {...form.getInputProps('base_url')}
      onBlur={() => form.setFieldValue('base_url', withoutSlash)}
    />
  )
}

function baseUrlHelp(type: ChannelType | undefined): keyof typeof texts {
  return baseUrlHelps[type?.id ?? 0] ?? (type?.needs_base_url ? 'baseUrlNeeded' : 'baseUrlHelp')
}

/** Fields of this type only. Some take JSON, and report invalid JSON at once. */
function OtherField({ form, label, placeholder }: { form: ChannelFormState; label: string; placeholder: string }) {
  const say = useText(texts)
  const { other } = form.values
  const looksLikeJson = /^\s*[[{]/.test(other)
  const { error, ...input } = form.getInputProps('other')
  return (
    <Textarea
      autosize
      minRows={1}
      maxRows={14}
      label={label}
      placeholder={placeholder}
      spellCheck={false}
      classNames={{ input: looksLikeJson ? shared.code : '' }}
      {...input}
      error={error ?? (looksLikeJson && !isJson(other) && say('invalidJson'))}
    />
  )
}

function TypeField({ form, types, type }: Pick<UpstreamFieldsProps, 'form' | 'types' | 'type'>) {
  const say = useText(texts)
  const local = useLocal()
  const offered = types.filter(({ id, offered }) => offered || id === form.values.type)

  function choose(next: ChannelType): void {
    // Models that were chosen by hand stay.
    const untouched = form.values.models.length === 0 || form.values.models.join() === type?.newest.join()
    form.setValues({ type: next.id, ...(untouched ? { models: [...next.newest] } : {}) })
    form.clearFieldError('type')
  }

  return (
    <Select
      label={say('typeField')}
      withAsterisk
      searchable
      // Typed text filters the options; it is not added to the selection.
      onClick={(event) => event.currentTarget.select()}
      allowDeselect={false}
      data={offered.map(({ id, label }) => ({ value: String(id), label: local(label) }))}
      value={String(form.values.type)}
      onChange={(value) => {
        const next = offered.find(({ id }) => String(id) === value)
        if (next) choose(next)
      }}
      renderOption={({ option }) => {
        const shown = offered.find(({ id }) => String(id) === option.value)
        return shown ? <Tag color={typeColor(shown)}>{option.label}</Tag> : option.label
      }}
      description={
        type?.docs && (
          <Anchor href={type.docs} target="_blank" rel="noreferrer" size="xs">
            {say('typeDocs')}
          </Anchor>
        )
      }
      error={form.errors.type}
    />
  )
}
