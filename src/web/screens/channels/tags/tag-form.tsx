import { Button, TagsInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { channelTagFields } from '../../../../contract/entities/channel-fields.ts'
import { ApiError } from '../../../lib/call.ts'
import { useText } from '../../../lib/i18n.ts'
import { read, useWrite } from '../../../lib/query.ts'
import { toast } from '../../../lib/toast.ts'
import { confirm } from '../../../ui/dialog/confirm.tsx'
import { DrawerForm } from '../../../ui/dialog/drawer-form.tsx'
import { FieldsForm } from '../../../ui/form/fields-form.tsx'
import { Notice } from '../../../ui/page/notice.tsx'
import { mappingFault } from '../form/form-faults.ts'
import { MappingEditor } from '../form/mapping-editor.tsx'
import { commonOf, patchOf, tagValues } from './tag-values.ts'
import type { Tagged } from './tagged.ts'
import styles from './tags.module.css'
import { texts } from './texts.ts'

/** Changes all channels of a tag at once: non-empty fields replace those of each channel. */
export function TagForm({ tagged, onDone }: { tagged: Tagged; onDone: () => void }) {
  const say = useText(texts)
  const { tag, channels } = tagged
  const groups = useQuery(read('GET /api/group/'))
  const form = useForm({
    initialValues: tagValues(tag),
    validate: { model_mapping: (text) => mappingFault(text) ?? null },
  })
  const edit = useWrite('PUT /api/channel/tag', {
    invalidates: ['GET /api/channel/search'],
    success: (count) => say('saved', { count }),
    onSuccess: onDone,
    onFailure: (cause) => {
      const isMapping = cause instanceof ApiError && cause.code === 'channel_mapping_loop'
      if (isMapping) form.setFieldError('model_mapping', cause.message)
      return isMapping
    },
  })
  const common = commonOf(channels)
  const kept = (value: string | undefined) => (value === undefined ? say('keptMixed') : say('kept', { value: value || '–' }))

  async function save(values: ReturnType<typeof tagValues>): Promise<void> {
    const patch = patchOf(tag, values)
    if (!patch) return toast.warn(say('notChanged'))
    const dissolves = patch.new_tag === ''
    const question = { title: say('dissolveTitle'), object: tag, body: say('dissolveBody', { count: channels.length }) }
    if (dissolves && !(await confirm({ ...question, confirmLabel: say('dissolve'), danger: true }))) return
    edit.mutate({ body: patch })
  }

  return (
    <DrawerForm busy={edit.isPending} dirty={form.isDirty()} onSubmit={form.onSubmit((values) => void save(values))}>
      <Notice>{say('notice', { count: channels.length })}</Notice>
      <FieldsForm
        fields={channelTagFields(form.values.new_tag.trim() === '')}
        form={form}
        inputs={{
          new_tag: { isFirst: true },
          groups: {
            placeholder: kept(common.group),
            data: [...new Set([...(groups.data ?? []), ...form.values.groups])],
          },
          priority: { placeholder: kept(common.priority) },
          weight: { placeholder: kept(common.weight) },
        }}
        draw={{
          models: (
            <div>
              <TagsInput
                label={say('models')}
                description={say('modelsHelp')}
                placeholder={form.values.models.length === 0 ? kept(common.models) : undefined}
                splitChars={[',', '，', '\n', '\r', '\t']}
                data={[...new Set(channels.flatMap(({ models }) => models.split(',')))]}
                maxDropdownHeight={240}
                classNames={{ pillsList: styles.models ?? '' }}
                {...form.getInputProps('models')}
              />
              <Button
                mt="xs"
                size="compact-sm"
                variant="default"
                onClick={() => form.setFieldValue('models', [...new Set(channels.flatMap(({ models }) => models.split(',')))])}
              >
                {say('fillPresent')}
              </Button>
            </div>
          ),
          model_mapping: (
            <MappingEditor
              description={say('mappingHelp')}
              {...form.getInputProps('model_mapping')}
              value={form.values.model_mapping}
            />
          ),
        }}
      />
    </DrawerForm>
  )
}
