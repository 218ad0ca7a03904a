import { UnstyledButton } from '@mantine/core'
import { IconCheck, IconMinus } from '@tabler/icons-react'
import { formatNumber } from '../../../contract/quota.ts'
import type { PriceRow } from '../../../contract/routes/pricing.ts'
import { groupColor } from '../../lib/colors.ts'
import { useText } from '../../lib/i18n.ts'
import { type Prices, pricesOf, usdText } from '../../lib/prices.ts'
import type { Column } from '../../ui/list/listing.ts'
import shared from '../../ui/shared.module.css'
import { CopyText } from '../../ui/view/copy-text.tsx'
import { ModelEndTag } from '../../ui/view/model-end.tsx'
import { PriceSource } from '../../ui/view/price-source.tsx'
import { HintTag } from '../../ui/view/status-tag.tsx'
import { Tag } from '../../ui/view/tag.tsx'
import { ClipPrices } from './clip-prices.tsx'
import styles from './pricing.module.css'
import { texts } from './texts.ts'
import { billingOf } from './wanted-rows.ts'

function ModelCell({ row: { model_name: model, end, redirect } }: { row: PriceRow }) {
  const say = useText(texts)
  return (
    <span className={styles.model}>
      <CopyText text={model} />
      {end && <ModelEndTag end={end} />}
      {redirect && (
        <HintTag hint={say('redirectHint', { model, other: redirect.answered_by, date: redirect.from })} color="orange">
          {say('redirect', { other: redirect.answered_by, date: redirect.from })}
        </HintTag>
      )}
    </span>
  )
}

interface Shown {
  readonly group: string
  readonly ratio: number
  readonly perUsd: number
  readonly onGroup: (group: string) => void
}

export function usePriceColumns({ group, ratio, perUsd, onGroup }: Shown): readonly Column<PriceRow>[] {
  const say = useText(texts)
  const prices = (row: PriceRow) => pricesOf(row, ratio, perUsd)
  const usd = (value: number | undefined) =>
    value === undefined ? null : <span className={shared.figure}>{usdText(value)}</span>
  return [
    {
      key: 'model',
      title: say('model'),
      heads: true,
      sortKey: 'model',
      cell: (row) => <ModelCell row={row} />,
    },
    {
      key: 'available',
      title: say('available'),
      width: 90,
      align: 'center',
      cell: (row) => {
        const has = row.enable_groups.includes(group)
        const Sign = has ? IconCheck : IconMinus
        return <Sign size={16} role="img" aria-label={say(has ? 'yes' : 'no')} className={has ? styles.yes : styles.no} />
      },
    },
    {
      key: 'billing',
      title: say('billing'),
      hideable: true,
      cell: (row) => <Tag color={billingTags[billingOf(row)].color}>{say(billingTags[billingOf(row)].label)}</Tag>,
    },
    {
      key: 'input',
      inCard: 'figure',
      title: say('input'),
      align: 'right',
      sortKey: 'input',
      cell: (row) => {
        const price = prices(row)
        if (row.clips) return <ClipPrices clips={row.clips} ratio={ratio} />
        if (price.isPerCall) return <span className={shared.figure}>{say('perCall', { price: usdText(price.call) })}</span>
        return <Stepped row={row} of={({ input }) => input} ratio={ratio} perUsd={perUsd} />
      },
    },
    {
      key: 'output',
      inCard: 'figure',
      title: say('output'),
      align: 'right',
      sortKey: 'output',
      cell: (row) =>
        prices(row).isPerCall ? null : <Stepped row={row} of={({ output }) => output} ratio={ratio} perUsd={perUsd} />,
    },
    { key: 'cacheRead', title: say('cacheRead'), align: 'right', hideable: true, cell: (row) => usd(prices(row).cacheRead) },
    {
      key: 'cacheWrite',
      title: say('cacheWrite'),
      align: 'right',
      hideable: true,
      hidden: true,
      cell: (row) => usd(prices(row).cacheWrite),
    },
    {
      key: 'source',
      title: say('source'),
      hideable: true,
      cell: ({ price_source: source, price_vendor: vendor, price_date: date }) =>
        source !== '' && <PriceSource source={source} vendor={vendor} date={date} className={shared.note} />,
    },
    {
      key: 'groups',
      title: say('groups'),
      hideable: true,
      cell: (row) =>
        row.enable_groups.length === 0 ? null : (
          <span className={styles.groups}>
            {row.enable_groups.map((name) => (
              <UnstyledButton
                key={name}
                aria-label={say('switchTo', { group: name })}
                aria-pressed={name === group}
                onClick={() => onGroup(name)}
              >
                <Tag color={name === group ? 'sluice' : groupColor(name)}>{name}</Tag>
              </UnstyledButton>
            ))}
          </span>
        ),
    },
    {
      key: 'ratios',
      title: say('ratios'),
      hideable: true,
      hidden: true,
      cell: (row) =>
        row.quota_type === 1
          ? null
          : say('ratiosOf', {
              model: Number(row.model_ratio.toFixed(4)),
              completion: Number(row.completion_ratio.toFixed(3)),
              group: ratio,
            }),
    },
  ]
}

const billingTags = {
  tokens: { label: 'byTokens', color: 'violet' },
  call: { label: 'byCall', color: 'teal' },
  clip: { label: 'byClip', color: 'blue' },
} as const

interface SteppedProps {
  readonly row: PriceRow
  readonly of: (prices: Prices) => number
  readonly ratio: number
  readonly perUsd: number
}

/** A price with its steps for longer prompts, its hours, and the prices of other times. */
function Stepped({ row, of, ratio, perUsd }: SteppedProps) {
  const say = useText(texts)
  return (
    <span className={shared.figure}>
      {usdText(of(pricesOf(row, ratio, perUsd)))}
      {row.steps.map(({ above, ...step }) => (
        <small key={above} className={styles.step}>
          {say('above', { count: formatNumber(above), price: usdText(of(pricesOf({ ...row, ...step }, ratio, perUsd))) })}
        </small>
      ))}
      {row.price_hours !== '' && <small className={styles.step}>{say('hours', { hours: row.price_hours })}</small>}
      {row.later.map(({ from, hours, ...other }) => {
        const price = usdText(of(pricesOf({ ...row, ...other }, ratio, perUsd)))
        return (
          <small key={`${from} ${hours}`} className={styles.step}>
            {from === ''
              ? say('atHours', { hours, price })
              : say(hours === '' ? 'fromDay' : 'fromDayAtHours', { day: from, hours, price })}
          </small>
        )
      })}
    </span>
  )
}
