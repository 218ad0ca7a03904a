import { Box, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import {
  expectationLabels,
  type QualityCheck,
  type QualityFault,
  type QualityOutcome,
  type QualityResult,
  qualityOutcomes,
} from '../../../contract/entities/quality-check.ts'
import { inOwnLanguage } from '../../../contract/text.ts'
import { formatCount, formatDuration } from '../../lib/format.ts'
import { type Say, useLanguage, useLocal, useText } from '../../lib/i18n.ts'
import { read } from '../../lib/query.ts'
import { DataTable } from '../../ui/list/data-table.tsx'
import { type Filter, ListFilters } from '../../ui/list/list-filters.tsx'
import { useList } from '../../ui/list/list-rows.ts'
import { useListState } from '../../ui/list/list-state.ts'
import type { Column } from '../../ui/list/listing.ts'
import { Panel } from '../../ui/page/panel.tsx'
import shared from '../../ui/shared.module.css'
import { CodeBlock } from '../../ui/text/code-block.tsx'
import { QuotaText } from '../../ui/view/quota-text.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import { TimeText } from '../../ui/view/time-text.tsx'
import { channelName } from './channel-name.ts'
import styles from './quality.module.css'
import { texts } from './texts.ts'
import { refetchOf } from './use-check-writes.ts'

const colors: Readonly<Record<QualityOutcome, string>> = { passed: 'green', failed: 'red', error: 'orange' }

/** The answers, newest first. */
export function ResultsPanel({ check }: { check: QualityCheck }) {
  const say = useText(texts)
  const state = useListState({ channel: 0, model: '', outcome: '' })
  const list = useList(
    'GET /api/quality_check/:id/results',
    { params: { id: check.id }, query: state.query },
    // A run that has ended has added results.
    { every: refetchOf([check]), version: check.last_run_at },
  )
  return (
    <Panel title={say('results')}>
      <DataTable
        label={say('results')}
        dense
        columns={useColumns()}
        {...list}
        rowKey={({ id }) => id}
        page={state.page}
        onPage={state.onPage}
        expand={(result) => <Opened result={result} check={check} />}
        toolbar={<ListFilters filters={useFilters(check)} {...state} />}
        empty={{ title: say('resultsEmpty') }}
      />
    </Panel>
  )
}

function useFilters({ models, standings }: QualityCheck): readonly Filter[] {
  const say = useText(texts)
  const channels = new Map(standings.map((row) => [row.channel_id, channelName(row, say)]))
  return [
    {
      kind: 'select',
      name: 'channel',
      label: say('channel'),
      choices: [...channels].map(([id, label]) => ({ value: String(id), label })),
    },
    ...(models.length > 1
      ? [
          {
            kind: 'select',
            name: 'model',
            label: say('model'),
            choices: models.map((value) => ({ value, label: value })),
          } as const,
        ]
      : []),
    {
      kind: 'select',
      name: 'outcome',
      label: say('outcome'),
      choices: qualityOutcomes.map((value) => ({ value, label: say(value) })),
    },
  ]
}

function useColumns(): Column<QualityResult>[] {
  const say = useText(texts)
  const language = useLanguage()
  return [
    { key: 'time', title: say('time'), heads: true, cell: ({ created_at: at }) => <TimeText seconds={at} /> },
    {
      key: 'outcome',
      title: say('outcome'),
      inCard: 'state',
      cell: ({ outcome }) => (
        <Tag dot color={colors[outcome]}>
          {say(outcome)}
        </Tag>
      ),
    },
    { key: 'channel', title: say('channel'), inCard: 'figure', cell: (row) => channelName(row, say) },
    { key: 'model', title: say('model'), cell: ({ model }) => <span className={shared.code}>{model}</span> },
    {
      key: 'reason',
      title: say('reason'),
      inCard: 'figure',
      cell: ({ faults, error }) => {
        const reason = inOwnLanguage(error, language) || faults.map((fault) => reasonOf(fault, say)).join('; ')
        return reason === '' ? null : <span className={styles.reasons}>{reason}</span>
      },
    },
    { key: 'duration', title: say('duration'), align: 'right', cell: ({ ms }) => formatDuration(ms) },
    {
      key: 'tokens',
      title: say('tokens'),
      align: 'right',
      cell: ({ input_tokens: input, output_tokens: output }) => (
        <span title={say('tokensHint', { input: formatCount(input), output: formatCount(output) })}>
          {formatCount(input + output)}
        </span>
      ),
    },
    { key: 'cost', title: say('cost'), align: 'right', cell: ({ cost }) => <QuotaText units={cost} /> },
  ]
}

function reasonOf({ reason, detail }: QualityFault, say: Say<keyof typeof texts>): string {
  return reason === 'no_tool' && detail !== '' ? say('no_toolOther', { detail }) : say(reason, { detail })
}

/** The expectations that the answer did not meet, and the answer itself. */
function Opened({ result, check }: { result: QualityResult; check: QualityCheck }) {
  const say = useText(texts)
  const local = useLocal()
  const language = useLanguage()
  const { data } = useQuery(read('GET /api/quality_check/result/:id', { params: { id: result.id } }))
  return (
    <div className={styles.opened}>
      {result.error !== '' && <span>{inOwnLanguage(result.error, language)}</span>}
      {result.faults.length > 0 && (
        <ul className={styles.faults}>
          {result.faults.map((fault) => (
            <li key={fault.index}>
              {local(expectationLabels[fault.kind])} <code>{expectedText(check, fault)}</code>: {reasonOf(fault, say)}
            </li>
          ))}
        </ul>
      )}
      {result.error === '' && (
        <div>
          <span className={shared.note}>
            {say('answer')} {data?.is_cut && say('answerCut')}
          </span>
          {!data ? (
            <Skeleton height={48} />
          ) : data.answer === '' ? (
            <Box component="p" my="sm" className={shared.note}>
              {say('answerNone')}
            </Box>
          ) : (
            <CodeBlock>{data.answer}</CodeBlock>
          )}
        </div>
      )}
    </div>
  )
}

function expectedText({ expectations }: QualityCheck, { index, kind }: QualityFault): string {
  const expected = expectations[index]
  if (!expected || expected.kind !== kind) return '…'
  switch (expected.kind) {
    case 'json':
      return expected.members.join(', ') || 'JSON'
    case 'tool':
      return expected.arguments === '' ? expected.name : `${expected.name}(${expected.arguments})`
    case 'tokens':
      return `${expected.min}–${expected.max}`
    default:
      return expected.value
  }
}
