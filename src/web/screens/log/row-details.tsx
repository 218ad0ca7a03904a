import { Code } from '@mantine/core'
import { type LogOther, logType } from '../../../contract/entities/log.ts'
import { formatName } from '../../../contract/formats.ts'
import { inOwnLanguage } from '../../../contract/text.ts'
import { formatCount, formatDuration } from '../../lib/format.ts'
import { useLanguage, useLocal, useText } from '../../lib/i18n.ts'
import { formatTime, timeZoneName } from '../../lib/times.ts'
import { type Fact, Facts } from '../../ui/page/facts.tsx'
import { Notice } from '../../ui/page/notice.tsx'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { PriceSource } from '../../ui/view/price-source.tsx'
import { QuotaChange, useQuotaHint } from '../../ui/view/quota-text.tsx'
import { Attempts } from './attempts.tsx'
import { BillTable } from './bill-table.tsx'
import { detailsTexts } from './details-texts.ts'
import { droppedFields, droppedOfReply, durationMs, type LogRow, siteCostOf } from './factors.ts'
import styles from './log.module.css'
import { OpenRecording } from './recording/open-recording.tsx'
import { texts } from './texts.ts'

type Failure = NonNullable<LogRow['failure']>
type Reported = NonNullable<NonNullable<LogOther['admin_info']>['reported']>

/** All details of a row: the events, the charge and its factors, and the raw row. */
export function RowDetails({ row }: { row: LogRow }) {
  const say = useText(detailsTexts)
  const language = useLanguage()
  const facts = useFacts(row)
  const isConsume = row.type === logType.consume
  return (
    <div className={styles.details}>
      <div className={styles.story}>
        {row.failure && (
          <Notice
            kind={(row.failure.status ?? 0) >= 500 ? 'danger' : 'warn'}
            title={`${row.failure.status ?? ''} ${row.failure.code ?? ''}`}
          >
            {inOwnLanguage(row.content, language)} {row.failure.in_stream && say('inStream')}
          </Notice>
        )}
        {row.recorded && <OpenRecording requestId={row.request_id} />}
        <Facts facts={facts} />
        <Remarks row={row} />
        <Attempts row={row} />
        <RawRow row={row} />
      </div>
      {isConsume && (
        <section className={styles.billing}>
          <h2 className={styles.heading}>{say('bill')}</h2>
          <BillTable row={row} />
        </section>
      )}
    </div>
  )
}

function useFacts(row: LogRow): Fact[] {
  const say = useText(detailsTexts)
  const sayRow = useText(texts)
  const language = useLanguage()
  const amountOf = useQuotaHint()
  const { factors } = row
  const duration = durationMs(row)
  const failureFacts = ({ format, path, bytes_in: received, bytes_out: sent, charged, address, user_agent: agent }: Failure) => [
    path !== undefined && {
      label: say('endpoint'),
      value: format && format !== 'other' ? `${path} · ${formatName(format)}` : path,
    },
    received !== undefined && { label: say('bytesIn'), value: formatCount(received) },
    sent !== undefined && { label: say('bytesOut'), value: formatCount(sent) },
    charged !== undefined && { label: say('chargedFor'), value: amountOf(charged) },
    address !== undefined && { label: say('address'), value: <CopyText text={address} /> },
    agent !== undefined && agent !== '' && { label: say('userAgent'), value: agent },
  ]
  const answering = duration - (factors.frt ?? 0)
  const facts: (Fact | false)[] = [
    {
      label: say('fullTime'),
      value: <span title={say('zone', { zone: timeZoneName() })}>{formatTime(row.created_at)}</span>,
    },
    row.request_id !== '' && { label: sayRow('requestId'), value: <CopyText text={row.request_id} /> },
    row.amount !== 0 &&
      (row.type === logType.consume
        ? { label: sayRow('cost'), value: amountOf(row.quota) }
        : { label: say('amount'), value: <QuotaChange units={row.amount} /> }),
    row.channel > 0 && { label: sayRow('channel'), value: `${row.channel} - ${row.channel_name || sayRow('channelGone')}` },
    row.model_name !== '' && {
      label: sayRow(factors.upstream_model_name ? 'requested' : 'model'),
      value: <CopyText text={row.model_name} />,
    },
    factors.upstream_model_name !== undefined && {
      label: sayRow('actual'),
      value: <CopyText text={factors.upstream_model_name} />,
    },
    factors.replaced_model !== undefined && {
      label: say('replacedModel'),
      value: <CopyText text={factors.replaced_model} />,
    },
    factors.answered_model !== undefined && {
      label: say('answeredModel'),
      value: <CopyText text={factors.answered_model} />,
    },
    factors.upstream_format !== undefined && { label: say('upstreamFormat'), value: formatName(factors.upstream_format) },
    factors.reasoning_effort !== undefined && { label: say('effort'), value: factors.reasoning_effort },
    factors.price_source !== undefined && {
      label: say('priceSource'),
      value: <PriceSource source={factors.price_source} vendor={factors.price_vendor ?? ''} date={factors.price_date ?? ''} />,
    },
    factors.price_above !== undefined && {
      label: say('priceStep'),
      value: say('priceAbove', { count: formatCount(factors.price_above) }),
    },
    factors.price_from !== undefined && { label: say('priceFrom'), value: factors.price_from },
    factors.price_hours !== undefined && { label: say('priceHours'), value: say('utc', { hours: factors.price_hours }) },
    factors.tier_asked !== undefined && { label: say('tierAsked'), value: factors.tier_asked },
    factors.tier_served !== undefined && { label: say('tierServed'), value: factors.tier_served },
    factors.reasoning_tokens !== undefined && { label: say('reasoningTokens'), value: formatCount(factors.reasoning_tokens) },
    (row.type === logType.consume || row.failure !== undefined) && { label: sayRow('duration'), value: formatDuration(duration) },
    row.is_stream && factors.frt !== undefined && { label: sayRow('firstToken'), value: formatDuration(factors.frt) },
    row.is_stream &&
      answering >= 100 &&
      row.completion_tokens > 1 && {
        label: say('speed'),
        value: say('perSecond', { count: formatCount(Number((row.completion_tokens / (answering / 1000)).toPrecision(3))) }),
      },
    factors.admin_info?.address !== undefined && { label: say('address'), value: factors.admin_info.address },
    ...(row.failure ? failureFacts(row.failure) : []),
    row.type !== logType.consume &&
      !row.failure &&
      row.content !== '' && { label: say('detail'), value: inOwnLanguage(row.content, language) },
  ]
  return facts.filter((fact) => fact !== false)
}

function Remarks({ row }: { row: LogRow }) {
  const say = useText(detailsTexts)
  const sayRow = useText(texts)
  const {
    estimated,
    interrupted,
    went_on_alone: wentOnAlone,
    unpriced,
    usage_implausible,
    usage_unexplained: unexplained = 0,
    cached_above_prompt: cachedAbovePrompt,
    above_hold,
    undelivered,
    prompt_added: promptAdded,
    answered_model: answeredModel,
    redirected,
    output_limit: outputLimit,
    admin_info: info,
  } = row.factors
  const local = useLocal()
  const amountOf = useQuotaHint()
  const siteCost = siteCostOf(row.factors)
  const dropped = droppedFields(row.factors)
  const replyDropped = droppedOfReply(row.factors)
  return (
    <>
      {interrupted && (
        <Notice kind="warn" title={sayRow('interrupted')}>
          {say(`interrupted${interrupted}`)}
        </Notice>
      )}
      {wentOnAlone && <Notice title={say('wentOnAlone')}>{say('wentOnAloneHint')}</Notice>}
      {estimated && <Notice title={sayRow('estimated')}>{say('estimatedHint')}</Notice>}
      {usage_implausible && (
        <Notice kind="warn" title={sayRow('implausible')}>
          {say('implausibleHint')} {info?.reported && say('reported', countsOf(info.reported))}
        </Notice>
      )}
      {unexplained !== 0 && (
        <Notice title={say('unexplained')}>
          {say(unexplained > 0 ? 'unexplainedMore' : 'unexplainedLess', { count: formatCount(Math.abs(unexplained)) })}
        </Notice>
      )}
      {cachedAbovePrompt !== undefined && (
        <Notice title={say('cachedAbovePrompt', { count: formatCount(cachedAbovePrompt) })}>
          {say('cachedAbovePromptHint')}
        </Notice>
      )}
      {undelivered && (
        <Notice kind="warn" title={sayRow('undelivered')}>
          {say('undeliveredHint')}
        </Notice>
      )}
      {above_hold && (
        <Notice kind="warn" title={sayRow('aboveHold')}>
          {say('aboveHoldHint')}
        </Notice>
      )}
      {promptAdded !== undefined && (
        <Notice title={say('promptAdded', { count: formatCount(promptAdded) })}>{say('promptAddedHint')}</Notice>
      )}
      {answeredModel !== undefined && (
        <Notice kind={redirected ? 'info' : 'warn'} title={say('answeredOther', { model: answeredModel })}>
          {say(redirected ? 'redirectedHint' : 'answeredOtherHint')}
        </Notice>
      )}
      {siteCost && (
        <Notice title={`${sayRow('siteCost')}: ${local(siteCost.label)}`}>
          {say('siteCostHint')} {amountOf(siteCost.units)}
        </Notice>
      )}
      {unpriced && (
        <Notice kind="warn" title={sayRow('unpriced')}>
          {say('unpricedHint')}
        </Notice>
      )}
      {outputLimit !== undefined && (
        <Notice kind="warn" title={say('outputLimit', { count: formatCount(outputLimit) })}>
          {say('outputLimitHint')}
        </Notice>
      )}
      {dropped.length > 0 && (
        <Notice kind="warn" title={say('dropped')}>
          {say('droppedHint')}
          <span className={styles.fields}>
            {dropped.map((field) => (
              <Code key={field}>{field}</Code>
            ))}
          </span>
        </Notice>
      )}
      {replyDropped.length > 0 && (
        <Notice title={say('replyDropped')}>
          {say('replyDroppedHint')}
          <span className={styles.fields}>
            {replyDropped.map((name) => (
              <Code key={name}>{name}</Code>
            ))}
          </span>
        </Notice>
      )}
    </>
  )
}

function countsOf(reported: Reported) {
  return {
    prompt: formatCount(reported.prompt_tokens),
    cached: formatCount(reported.cached_tokens),
    completion: formatCount(reported.completion_tokens),
  }
}

function RawRow({ row: { factors, failure, channelNames: _names, ...log } }: { row: LogRow }) {
  const say = useText(detailsTexts)
  const other = failure ?? factors
  const text = JSON.stringify({ ...log, other: Object.keys(other).length > 0 ? other : log.other }, null, 2)
  return (
    <details className={styles.raw}>
      <summary>{say('raw')}</summary>
      <CodeBlock>{text}</CodeBlock>
    </details>
  )
}
