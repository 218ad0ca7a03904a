import { Popover, Tooltip, UnstyledButton } from '@mantine/core'
import { IconRadar2, IconTransform } from '@tabler/icons-react'
import { cachedTokensOf, logType, logTypeLabels } from '../../../contract/entities/log.ts'
import { type Factors, failedAttempts, triedChannels } from '../../../contract/log-factors.ts'
import { ratioToUsdPerMillion } from '../../../contract/quota.ts'
import { inOwnLanguage } from '../../../contract/text.ts'
import { durationColor, firstTokenColor } from '../../lib/colors.ts'
import { formatCount, formatDuration } from '../../lib/format.ts'
import { useLanguage, useLocal, useText } from '../../lib/i18n.ts'
import { formatTime } from '../../lib/times.ts'
import { Facts } from '../../ui/page/facts.tsx'
import shared from '../../ui/shared.module.css'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { QuotaChange, QuotaText } from '../../ui/view/quota-text.tsx'
import { HintTag } from '../../ui/view/status-tag.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import { droppedFields, durationMs, type LogRow } from './factors.ts'
import styles from './log.module.css'
import { usdText } from './prices.ts'
import { texts } from './texts.ts'

/** Cells of the log. An empty cell is null. */

/** The year is left out for the current year. */
export function TimeCell({ row }: { row: LogRow }) {
  const say = useText(texts)
  const full = formatTime(row.created_at)
  const thisYear = full.startsWith(String(new Date().getFullYear()))
  return (
    <time className={styles.figure} dateTime={new Date(row.created_at * 1000).toISOString()} title={full}>
      {thisYear ? full.slice(5) : full}
      {row.recorded && <IconRadar2 size={13} className={styles.recorded} aria-label={say('recorded')} />}
    </time>
  )
}

export function ChannelCell({ row }: { row: LogRow }) {
  const say = useText(texts)
  return (
    <Tooltip label={`${row.channel_name || say('channelGone')} #${row.channel}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a hint has to be reached by keyboard */}
      <span className={styles.clippedText} tabIndex={0}>
        {row.channel_name || `#${row.channel}`}
      </span>
    </Tooltip>
  )
}

export function TokenCell({ row }: { row: LogRow }) {
  return (
    <CopyText text={row.token_name}>
      <span className={styles.name}>
        <span className={styles.clippedText}>{row.token_name}</span>
      </span>
    </CopyText>
  )
}

export function TypeCell({ row }: { row: LogRow }) {
  const say = useText(texts)
  const local = useLocal()
  const type = logTypeLabels[row.type]
  const name = type ? local(type.label) : say('unknownType')
  // Most rows are charges, so that only other types are highlighted.
  return row.type === logType.consume ? <span className={styles.figure}>{name}</span> : <Tag color={type?.color}>{name}</Tag>
}

export function ModelCell({ row }: { row: LogRow }) {
  const say = useText(texts)
  const { upstream_model_name: actual } = row.factors
  const name = (
    <span className={`${styles.name} ${shared.smallCode}`}>
      {actual && <IconTransform size={13} aria-hidden="true" className={styles.tagIcon} />}
      <span className={styles.clippedText}>{row.model_name}</span>
    </span>
  )
  if (!actual) return <CopyText text={row.model_name}>{name}</CopyText>
  return (
    <Popover shadow="md" radius="md" position="bottom-start" withinPortal>
      <Popover.Target>
        <UnstyledButton className={styles.textButton} fz="inherit">
          {name}
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown>
        <Facts
          facts={[
            { label: say('requested'), value: <CopyText text={row.model_name} /> },
            { label: say('actual'), value: <CopyText text={actual} /> },
          ]}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

export function TimingCell({ row }: { row: LogRow }) {
  const say = useText(texts)
  const duration = durationMs(row)
  const { frt } = row.factors
  return (
    <span className={styles.timing}>
      <Tag color={durationColor(duration / 1000)} title={say('duration')}>
        {formatDuration(duration)}
      </Tag>
      {row.is_stream && frt !== undefined && (
        <Tag color={firstTokenColor(frt)} title={say('firstToken')}>
          {formatDuration(frt)}
        </Tag>
      )}
      <small className={shared.note}>{say(row.is_stream ? 'stream' : 'notStream')}</small>
    </span>
  )
}

export function PromptCell({ row }: { row: LogRow }) {
  const say = useText(texts)
  const cached = cachedTokensOf(row.factors) ?? 0
  return (
    <span className={styles.figure}>
      {formatCount(row.prompt_tokens)}
      {cached > 0 && <small className={styles.under}>{say('cached', { count: formatCount(cached) })}</small>}
    </span>
  )
}

export function CostCell({ row }: { row: LogRow }) {
  return (
    <span className={styles.figure}>
      {row.type === logType.consume ? <QuotaText units={row.quota} /> : <QuotaChange units={row.amount} />}
    </span>
  )
}

export function RetryCell({ row }: { row: LogRow }) {
  const say = useText(texts)
  const attempts = failedAttempts(row.factors)
  const chain = triedChannels(row.factors)
  return (
    <HintTag
      color="orange"
      hint={
        <>
          {attempts.map(({ channel, reason, ms }, index) => (
            // A chain never changes.
            // biome-ignore lint/suspicious/noArrayIndexKey: its place is what names a try
            <span key={index} className={styles.hintLine}>
              {say('attempt', { channel, reason, time: formatDuration(ms) })}
            </span>
          ))}
          {!row.failure && <span className={styles.hintLine}>{say('answeredBy', { channel: chain.at(-1) ?? '' })}</span>}
        </>
      }
    >
      {chain.join('→')}
    </HintTag>
  )
}

/** A summary of the price, and exceptions; for other rows their text. */
export function DetailCell({ row }: { row: LogRow }) {
  const say = useText(texts)
  const language = useLanguage()
  if (row.type !== logType.consume) {
    const text = inOwnLanguage(row.content, language)
    const { status, code } = row.failure ?? {}
    if (status !== undefined) {
      return (
        <span className={styles.detailLine}>
          <Tag color={status >= 500 ? 'red' : 'orange'} title={code}>
            {status}
          </Tag>
          <span title={text}>{text}</span>
        </span>
      )
    }
    return (
      <span className={styles.clippedText} title={text}>
        {text}
      </span>
    )
  }
  const { interrupted, estimated, usage_implausible: implausible, above_hold: aboveHold, undelivered, unpriced } = row.factors
  const dropped = droppedFields(row.factors).length
  return (
    <span className={styles.detailLine}>
      {interrupted && <Tag color="orange">{say('interrupted')}</Tag>}
      {implausible && <Tag color="orange">{say('implausible')}</Tag>}
      {undelivered && <Tag color="orange">{say('undelivered')}</Tag>}
      {aboveHold && <Tag color="orange">{say('aboveHold')}</Tag>}
      {unpriced && <Tag color="red">{say('unpriced')}</Tag>}
      {estimated && !interrupted && <Tag color="yellow">{say('estimated')}</Tag>}
      {dropped > 0 && <Tag color="yellow">{say('droppedCount', { count: dropped })}</Tag>}
      <Price factors={row.factors} />
    </span>
  )
}

function Price({ factors }: { factors: Factors }) {
  const say = useText(texts)
  const { model_price: fixed = -1, model_ratio: ratio, completion_ratio: completion = 1, group_ratio: group = 1 } = factors
  const perMillion = (value: number) => usdText(ratioToUsdPerMillion(value, factors.quota_per_unit))
  if (fixed < 0 && ratio === undefined) return null
  const price =
    fixed >= 0
      ? say('detailFixed', { price: usdText(fixed) })
      : say('detailTokens', { input: perMillion(ratio ?? 0), output: perMillion((ratio ?? 0) * completion) })
  return (
    <span className={shared.note} title={fixed < 0 ? say('detailHint') : undefined}>
      {price}
      {group !== 1 && ` ${say('detailGroup', { ratio: group })}`}
    </span>
  )
}
