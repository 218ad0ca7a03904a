import { Group, Input, Select, Skeleton, Slider, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { ratioColor } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { ErrorView } from '../../ui/error-view.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Tag } from '../../ui/tag.tsx'
import { type Choices, temperatureRange } from './settings.ts'
import { texts } from './texts.ts'

export interface SettingsPanelProps {
  readonly choices: Choices
  /** Sending was tried without a group or model. */
  readonly showMissing: boolean
}

/** With what the questions are asked. */
export function SettingsPanel({ choices, showMissing }: SettingsPanelProps) {
  const say = useText(texts)
  const { settings, change } = choices
  return (
    <Stack gap="lg">
      <Choosing choices={choices} showMissing={showMissing} />
      <Input.Wrapper
        labelElement="div"
        label={
          <Group justify="space-between" component="span">
            <span>{say('temperature')}</span>
            <span>{settings.temperature.toFixed(1)}</span>
          </Group>
        }
        labelProps={{ style: { width: '100%' } }}
        description={say('temperatureHint')}
      >
        <Slider
          mt="xs"
          size="sm"
          {...temperatureRange}
          label={null}
          thumbLabel={say('temperature')}
          value={settings.temperature}
          onChange={(temperature) => change({ temperature: Number(temperature.toFixed(1)) })}
        />
      </Input.Wrapper>
      <TextInput
        label={say('maxTokens')}
        description={say('maxTokensHint')}
        inputMode="numeric"
        value={String(settings.max_tokens)}
        onChange={(event) => change({ max_tokens: Number(event.currentTarget.value.replace(/\D/g, '').slice(0, 9)) })}
      />
      <Textarea
        label={say('system')}
        placeholder={say('systemPlaceholder')}
        autosize
        minRows={4}
        maxRows={12}
        value={settings.system}
        onChange={(event) => change({ system: event.currentTarget.value })}
      />
    </Stack>
  )
}

function Choosing({ choices, showMissing }: SettingsPanelProps) {
  const say = useText(texts)
  const { groups, models, settings, change } = choices
  const error = groups.error ?? models.error
  if (groups.data && models.data) {
    const groupInfo = groups.data
    return (
      <>
        {Object.keys(groupInfo).length === 0 && <Notice kind="warn">{say('groupNone')}</Notice>}
        {models.data.length === 0 && <Notice kind="warn">{say('modelNone')}</Notice>}
        <Select
          label={say('group')}
          description={<GroupHint {...groupInfo[settings.group]} />}
          placeholder={say('groupPick')}
          withAsterisk
          allowDeselect={false}
          data={Object.keys(groupInfo)}
          value={settings.group || null}
          onChange={(group) => change({ group: group ?? '' })}
          error={showMissing && settings.group === '' && say('groupMissing')}
          renderOption={({ option }) => <GroupOption name={option.value} {...groupInfo[option.value]} />}
        />
        <Select
          label={say('model')}
          placeholder={say('modelPick')}
          withAsterisk
          searchable
          selectFirstOptionOnChange
          allowDeselect={false}
          nothingFoundMessage={say('modelNotFound')}
          limit={200}
          data={[...new Set(models.data)]}
          value={settings.model || null}
          onChange={(model) => change({ model: model ?? '' })}
          error={showMissing && settings.model === '' && say('modelMissing')}
        />
      </>
    )
  }
  if (error) return <ErrorView error={error} onRetry={() => void Promise.all([groups.refetch(), models.refetch()])} />
  return (
    <>
      <Skeleton height={58} />
      <Skeleton height={58} />
    </>
  )
}

interface GroupInfo {
  readonly desc?: string
  readonly ratio?: number
}

function GroupHint({ desc, ratio }: GroupInfo) {
  return (
    <Group justify="space-between" component="span" wrap="nowrap">
      <span>{desc}</span>
      <RatioTag ratio={ratio} />
    </Group>
  )
}

function GroupOption({ name, desc, ratio }: GroupInfo & { name: string }) {
  return (
    <Group justify="space-between" wrap="nowrap" flex={1}>
      <div>
        {name}
        {desc && desc !== name && (
          <Text size="xs" c="dimmed">
            {desc}
          </Text>
        )}
      </div>
      <RatioTag ratio={ratio} />
    </Group>
  )
}

function RatioTag({ ratio }: { ratio: number | undefined }) {
  const say = useText(texts)
  if (ratio === undefined) return null
  return <Tag color={ratioColor(ratio)}>{say('ratio', { ratio })}</Tag>
}
