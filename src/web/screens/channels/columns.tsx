import { Group } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { ChannelHealth } from '../../../contract/entities/call-statistics.ts'
import type { Channel, ChannelType, ModelChanges } from '../../../contract/entities/channel.ts'
import { channelStatus, channelStatusLabels } from '../../../contract/entities/channel-status.ts'
import { exactUsd, formatUsd } from '../../../contract/quota.ts'
import { inOwnLanguage } from '../../../contract/text.ts'
import { colorOf, responseTimeColor } from '../../lib/colors.ts'
import { formatCount, formatSeconds } from '../../lib/format.ts'
import { useLanguage, useLocal, useText } from '../../lib/i18n.ts'
import { formatTime } from '../../lib/times.ts'
import type { Column } from '../../ui/list/listing.ts'
import { RuleTag } from '../../ui/recording/recorded-tag.tsx'
import shared from '../../ui/shared.module.css'
import { useEndText } from '../../ui/view/model-end.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { HintTag, StatusTag } from '../../ui/view/status-tag.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import styles from './channels.module.css'
import { readDisabledReason } from './disabled-reason.ts'
import { HealthCell, LastError } from './health/health-cell.tsx'
import { texts as healthTexts } from './health/texts.ts'
import { InlineNumber } from './inline-number.tsx'
import { texts } from './texts.ts'
import { useBalance } from './use-balance.ts'

interface ColumnsInput {
  readonly types: readonly ChannelType[]
  /** Shows the tag of each channel, which filters by it on click; absent when headings show it. */
  readonly onTag: ((tag: string) => void) | undefined
  readonly onKeys: (channel: Channel) => void
  /** Upstream model changes that are still open. */
  readonly changes: readonly ModelChanges[]
  readonly onChanges: () => void
  /** By the id of the channel. */
  readonly health: ReadonlyMap<number, ChannelHealth>
}

export function useColumns(input: ColumnsInput): Column<Channel>[] {
  const { types } = input
  const say = useText(texts)
  const sayHealth = useText(healthTexts)
  return [
    { key: 'id', title: say('id'), sortKey: 'id', sortsDown: true, width: 48, cell: ({ id }) => id },
    {
      key: 'name',
      title: say('name'),
      heads: true,
      width: 'clamp(150px, 11vw, 300px)',
      cell: (channel) => <Name channel={channel} {...input} />,
    },
    { key: 'group', title: say('groups'), hideable: true, cell: (channel) => <Groups channel={channel} /> },
    { key: 'type', title: say('type'), hideable: true, cell: (channel) => <Type channel={channel} types={types} /> },
    { key: 'status', inCard: 'state', title: say('status'), cell: (channel) => <Status channel={channel} /> },
    {
      key: 'health',
      inCard: 'figure',
      title: sayHealth('title'),
      hideable: true,
      cell: ({ id }) => <HealthCell health={input.health.get(id)} />,
    },
    {
      key: 'error',
      title: sayHealth('errorTitle'),
      hideable: true,
      cell: ({ id }) => <LastError health={input.health.get(id)} />,
    },
    {
      key: 'response',
      title: say('responseTime'),
      hideable: true,
      cell: (channel) => <ResponseTime channel={channel} />,
    },
    {
      key: 'used',
      inCard: 'figure',
      title: say('usedBalance'),
      hideable: true,
      align: 'right',
      cell: (channel) => <Used channel={channel} types={types} />,
    },
    {
      key: 'priority',
      title: say('priority'),
      sortKey: 'priority',
      sortsDown: true,
      align: 'right',
      width: 64,
      cell: (channel) => <InlineNumber channel={channel} field="priority" />,
    },
    {
      key: 'weight',
      title: say('weight'),
      hideable: true,
      align: 'right',
      width: 54,
      cell: (channel) => <InlineNumber channel={channel} field="weight" />,
    },
    { key: 'models', title: say('models'), hideable: true, hidden: true, cell: (channel) => <Models channel={channel} /> },
    {
      key: 'created',
      title: say('created'),
      hideable: true,
      hidden: true,
      cell: (channel) => <TimeText seconds={channel.created_time} />,
    },
  ]
}

function Name({ channel, onTag, onKeys, changes, onChanges }: { channel: Channel } & ColumnsInput) {
  const say = useText(texts)
  const { id, name, tag, keys_total: total, keys_enabled: enabled } = channel
  const change = changes.find(({ channel_id }) => channel_id === id)
  return (
    <Group gap="0.25rem 0.5rem">
      <Link to="/channel/edit/$id" params={{ id: String(id) }} search resetScroll={false} className={styles.link}>
        {name}
      </Link>
      <RuleTag kind="channel" target={id} />
      {tag && onTag && (
        <button type="button" className={styles.tag} title={say('filterByTag', { tag })} onClick={() => onTag(tag)}>
          <Tag color={colorOf(tag)}>{tag}</Tag>
        </button>
      )}
      {total > 1 && (
        <button
          type="button"
          className={styles.keys}
          title={say('keysInUse', { enabled, total })}
          onClick={() => onKeys(channel)}
        >
          <Tag color={enabled === total ? 'gray' : enabled === 0 ? 'red' : 'orange'}>
            <IconKey size={12} aria-hidden="true" />
            {enabled}/{total}
          </Tag>
        </button>
      )}
      {change && (
        <button type="button" className={styles.keys} title={say('changesHere')} onClick={onChanges}>
          <Tag color="sluice">{changeText(change)}</Tag>
        </button>
      )}
      {channel.lacking.length > 0 && <Lacking channel={channel} />}
      {Object.keys(channel.prompt_additions).length > 0 && <PromptAdditions channel={channel} />}
      <Ending channel={channel} />
    </Group>
  )
}

/** +3 −1 */
function changeText({ added, removed }: ModelChanges): string {
  const parts = [added.length > 0 && `+${added.length}`, removed.length > 0 && `−${removed.length}`]
  return parts.filter((part) => part !== false).join(' ')
}

const groupsShown = 2

/** `default` first, the others by name. */
function Groups({ channel }: { channel: Channel }) {
  const say = useText(texts)
  const groups = channel.group
    .split(',')
    .filter((group) => group !== '')
    .sort((a, b) => Number(b === 'default') - Number(a === 'default') || a.localeCompare(b))
  const rest = groups.slice(groupsShown)
  return (
    <div className={styles.tags}>
      {groups.slice(0, groupsShown).join(', ')}
      {rest.length > 0 && (
        <HintTag hint={say('moreGroups', { count: rest.length, groups: rest.join(', ') })}>+{rest.length}</HintTag>
      )}
    </div>
  )
}

function Type({ channel, types }: { channel: Channel; types: readonly ChannelType[] }) {
  const say = useText(texts)
  const local = useLocal()
  const type = types.find(({ id }) => id === channel.type)
  return type ? local(type.label) : <Tag>{say('unknownType', { type: channel.type })}</Tag>
}

/** Only what is not enabled stands out. */
function Status({ channel }: { channel: Channel }) {
  const say = useText(texts)
  const local = useLocal()
  const state = channelStatusLabels[channel.status]
  if (state && channel.status === channelStatus.enabled) return local(state.label)
  const disabled = readDisabledReason(channel)
  const hint = disabled && (
    <>
      {disabled.reason && <div>{say('disabledReason', { reason: disabled.reason })}</div>}
      {disabled.at > 0 && <div>{say('disabledTime', { time: formatTime(disabled.at) })}</div>}
    </>
  )
  return <StatusTag state={state} hint={hint} />
}

/** The endpoints that its upstream was found not to have, and since when. */
function Lacking({ channel: { lacking } }: { channel: Channel }) {
  const say = useText(texts)
  const hint = lacking.map(({ endpoint, since }) => (
    <div key={endpoint}>{say('lacksSince', { endpoint: `/v1/${endpoint}`, time: formatTime(since) })}</div>
  ))
  return (
    <HintTag hint={hint} color="yellow">
      {say('lacks', { endpoints: lacking.map(({ endpoint }) => `/v1/${endpoint}`).join(', ') })}
    </HintTag>
  )
}

const endsWithinDays = 60
const endsShown = 20

/** Its models that end in the next weeks, or have ended. */
function Ending({ channel: { model_ends: ends } }: { channel: Channel }) {
  const say = useText(texts)
  const endText = useEndText()
  const soon = new Date(Date.now() + endsWithinDays * 86_400_000).toISOString()
  const near = ends.filter(({ date }) => date <= soon)
  if (near.length === 0) return null
  const hint = near.slice(0, endsShown).map((end) => <div key={end.model}>{`${end.model}: ${endText(end)}`}</div>)
  return (
    <HintTag hint={hint} color="orange">
      {say('modelsEnd', { count: near.length })}
    </HintTag>
  )
}

/** What its upstream was found to add to prompts, until an admin says in the channel's settings what it does. */
function PromptAdditions({ channel: { prompt_additions: additions } }: { channel: Channel }) {
  const say = useText(texts)
  const hint = (
    <>
      {Object.entries(additions).map(([model, tokens]) => (
        <div key={model}>{say('addsTokens', { model, count: formatCount(tokens) })}</div>
      ))}
      <div>{say('addsQuestion')}</div>
    </>
  )
  return (
    <HintTag hint={hint} color="yellow">
      {say('addsToPrompts')}
    </HintTag>
  )
}

function ResponseTime({ channel }: { channel: Channel }) {
  const say = useText(texts)
  const { response_time: ms, test_time: testedAt } = channel
  if (ms === 0) return <Tag>{say('untested')}</Tag>
  if (channel.test_failure !== '') return <FailedTest channel={channel} />
  return (
    <HintTag hint={say('testedAt', { time: formatTime(testedAt) })} color={responseTimeColor(ms)}>
      {say('seconds', { seconds: formatSeconds(ms) })}
    </HintTag>
  )
}

/** Stays until the next test. */
function FailedTest({ channel: { test_failure: failure, test_time: at } }: { channel: Channel }) {
  const say = useText(texts)
  const language = useLanguage()
  const [, status = '0', reason = ''] = /^(\d+) (.*)$/s.exec(failure) ?? []
  const hint = (
    <>
      <div>{inOwnLanguage(reason, language)}</div>
      <div>{say('testedAt', { time: formatTime(at) })}</div>
    </>
  )
  return (
    <HintTag hint={hint} color="red">
      {status === '0' ? say('failedTest') : say('failedTestWith', { status })}
    </HintTag>
  )
}

function Used({ channel, types }: { channel: Channel; types: readonly ChannelType[] }) {
  const tells = types.find(({ id }) => id === channel.type)?.tells_balance === true
  return (
    <span className={shared.nowrap}>
      <QuotaText units={channel.used_quota} />
      <span className={shared.aside}>
        {' / '}
        {tells ? <Balance channel={channel} /> : '–'}
      </span>
    </span>
  )
}

/** The last known balance; clicking it refreshes it. */
function Balance({ channel }: { channel: Channel }) {
  const say = useText(texts)
  const { name, balance, balance_updated_time: at } = channel
  const refresh = useBalance(channel)
  const known = at > 0 ? `${exactUsd(balance)} · ${say('balanceAt', { time: formatTime(at) })}` : say('balanceUnknown')
  return (
    <button
      type="button"
      className={styles.balance}
      title={`${known} · ${say('balanceRefresh')}`}
      aria-label={`${say('balanceRefresh')}: ${name}`}
      aria-busy={refresh.isPending}
      disabled={refresh.isPending}
      onClick={() => refresh.mutate()}
    >
      {at > 0 ? formatUsd(balance) : '?'}
    </button>
  )
}

function Models({ channel }: { channel: Channel }) {
  const say = useText(texts)
  const models = channel.models.split(',')
  return <HintTag hint={models.slice(0, 30).join(', ')}>{say('modelCount', { count: models.length })}</HintTag>
}
