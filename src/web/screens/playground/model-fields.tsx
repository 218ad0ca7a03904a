import { ActionIcon, Button, Group, Select, Skeleton, Text, Tooltip } from '@mantine/core'
import { IconColumns, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { ratioColor } from '../../lib/colors.ts'
import { useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { ErrorView } from '../../ui/page/error-view.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { useEndText } from '../../ui/view/model-end.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import styles from './playground.module.css'
import { type Choices, modelsMax } from './settings.ts'
import { texts } from './texts.ts'

export interface Choosing {
  readonly choices: Choices
  /** Sending was tried without a group or model. */
  readonly showMissing: boolean
}

/** The choice of the group, and of one model or several side by side. */
export function ModelFields({ choices, showMissing }: Choosing) {
  const say = useText(texts)
  const { groups, models, settings, change } = choices
  const error = groups.error ?? models.error
  if (!groups.data || !models.data) {
    if (error) return <ErrorView error={error} onRetry={() => void Promise.all([groups.refetch(), models.refetch()])} />
    return (
      <>
        <Skeleton height={58} />
        <Skeleton height={58} />
      </>
    )
  }

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
      <Models choices={choices} showMissing={showMissing} />
    </>
  )
}

function Models({ choices: { models, settings, change }, showMissing }: Choosing) {
  const say = useText(texts)
  const chosen = settings.models
  const names = [...new Set(models.data)]
  const isComparing = chosen.length > 1
  const { data: ends = {} } = useQuery(read('GET /api/user/model_ends'))
  const endText = useEndText()

  return (
    <div className={styles.models}>
      {chosen.map((model, lane) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the place is the column, which is what it is
        <div key={lane} className={styles.model}>
          <Select
            flex={1}
            label={isComparing ? say('modelNumber', { number: lane + 1 }) : say('model')}
            placeholder={say('modelPick')}
            withAsterisk
            searchable
            selectFirstOptionOnChange
            allowDeselect={false}
            nothingFoundMessage={say('modelNotFound')}
            limit={200}
            data={names}
            description={ends[model] && endText(ends[model])}
            value={model || null}
            onChange={(next) => change({ models: chosen.with(lane, next ?? '') })}
            error={showMissing && model === '' && say('modelMissing')}
          />
          {isComparing && (
            <Tooltip label={say('modelRemove')}>
              <ActionIcon
                size={36}
                aria-label={`${say('modelRemove')}: ${model || lane + 1}`}
                onClick={() => change({ models: chosen.toSpliced(lane, 1) })}
              >
                <IconX size={16} stroke={1.6} />
              </ActionIcon>
            </Tooltip>
          )}
        </div>
      ))}
      {chosen.length < modelsMax && names.length > 1 && (
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconColumns size={15} stroke={1.6} />}
          onClick={() => change({ models: [...chosen, names.find((name) => !chosen.includes(name)) ?? ''] })}
        >
          {say('compare')}
        </Button>
      )}
    </div>
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
