import { VisuallyHidden } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { type Bill, billOf, type FixedBill, type TokenBill } from '../../../contract/bill.ts'
import { type Decimal, decimalText, product } from '../../../contract/decimal.ts'
import { isUndelivered } from '../../../contract/log-factors.ts'
import { usdFigure } from '../../../contract/quota.ts'
import { formatCount } from '../../lib/format.ts'
import { useText } from '../../lib/i18n.ts'
import { Notice } from '../../ui/page/notice.tsx'
import shared from '../../ui/shared.module.css'
import { detailsTexts } from './details-texts.ts'
import type { LogRow } from './factors.ts'
import styles from './log.module.css'
import { usdText } from './prices.ts'

/** The charge of a row, line by line, and whether it equals the charged amount. */
export function BillTable({ row }: { row: LogRow }) {
  const say = useText(detailsTexts)
  const bill = billOf(row)
  if (!bill) return <Notice>{say('notComputable')}</Notice>

  const usdOf = (units: number) => `$${usdFigure(units, bill.perUsd)}`
  return (
    <>
      <div className={styles.scroll}>
        <table className={`${shared.table} ${styles.bill}`}>
          <caption>
            <VisuallyHidden>{say('bill')}</VisuallyHidden>
          </caption>
          <thead>
            <tr>
              <th scope="col">{say('billItem')}</th>
              <th scope="col">{say('billTokens')}</th>
              <th scope="col">{say('billPrice')}</th>
              <th scope="col">{say('billUsd')}</th>
              <th scope="col">{say('billUnits')}</th>
            </tr>
          </thead>
          <tbody>
            {bill.kind === 'fixed' ? <FixedLine bill={bill} usdOf={usdOf} /> : <TokenLines bill={bill} usdOf={usdOf} />}
            <TierLine bill={bill} />
            <ToolLines bill={bill} usdOf={usdOf} />
            <OtherLines bill={bill} usdOf={usdOf} />
          </tbody>
          <tfoot>
            <SumRow name={say('subtotal')} usd={usdOf(numberOf(bill.subtotal))} units={unitsText(bill.subtotal)} />
            <SumRow
              name={say('timesGroup', { ratio: bill.groupRatio })}
              usd={usdOf(numberOf(bill.exact))}
              units={unitsText(bill.exact)}
            />
            <SumRow name={say('roundedUp')} usd={usdOf(bill.rounded)} units={formatCount(bill.rounded)} />
            {bill.atMost !== undefined && (
              <SumRow
                name={say(isUndelivered(row.factors) ? 'undeliveredFree' : 'atMostHold')}
                usd={usdOf(bill.atMost)}
                units={formatCount(bill.atMost)}
              />
            )}
            <SumRow name={say('charged')} usd={usdOf(row.quota)} units={formatCount(row.quota)} strong />
          </tfoot>
        </table>
      </div>
      <p className={shared.note}>{say('perUnit', { count: formatCount(bill.perUsd) })}</p>
      <Verdict bill={bill} charged={row.quota} />
    </>
  )
}

interface LineProps<Kind extends Bill> {
  readonly bill: Kind
  readonly usdOf: (units: number) => string
}

function TokenLines({ bill, usdOf }: LineProps<TokenBill>) {
  const say = useText(detailsTexts)
  return bill.lines.map(({ bucket, tokens, ratio, usdPerMillion, units }) => (
    <tr key={bucket}>
      <th scope="row">
        {say(bucket)}
        <small>{bucket === 'input' ? say('inputRatio', { ratio: bill.modelRatio }) : say('timesInput', { ratio })}</small>
      </th>
      <td>{formatCount(tokens)}</td>
      <td>{usdText(usdPerMillion)}</td>
      <td>{usdOf(numberOf(units))}</td>
      <td>{unitsText(units)}</td>
    </tr>
  ))
}

function FixedLine({ bill, usdOf }: LineProps<FixedBill>) {
  const say = useText(detailsTexts)
  const units = product(bill.usd, bill.calls, bill.perUsd)
  return (
    <tr>
      <th scope="row">
        {say('fixed')}
        {bill.calls === 1 ? null : <small>{say('timesCalls', { usd: usdText(bill.usd), calls: bill.calls })}</small>}
      </th>
      <td />
      <td />
      <td>{usdOf(numberOf(units))}</td>
      <td>{unitsText(units)}</td>
    </tr>
  )
}

function TierLine({ bill }: { bill: Bill }) {
  const say = useText(detailsTexts)
  if (bill.tierFactor === 1) return null
  return (
    <tr>
      <th scope="row" colSpan={5}>
        {say('timesTier', { factor: bill.tierFactor })}
      </th>
    </tr>
  )
}

function ToolLines({ bill, usdOf }: LineProps<Bill>) {
  const say = useText(detailsTexts)
  return bill.tools.map(({ name, count, usd, units }) => (
    <tr key={name}>
      <th scope="row">
        {name === 'web_search' ? say('searches') : name}
        <small>{say('callsEach', { count, usd })}</small>
      </th>
      <td />
      <td />
      <td>{usdOf(numberOf(units))}</td>
      <td>{unitsText(units)}</td>
    </tr>
  ))
}

function OtherLines({ bill, usdOf }: LineProps<Bill>) {
  const say = useText(detailsTexts)
  return bill.others.map(({ model, tokens, units }) => (
    <tr key={model}>
      <th scope="row">
        {model}
        <small>{say('otherModel')}</small>
      </th>
      <td>{formatCount(tokens)}</td>
      <td />
      <td>{usdOf(numberOf(units))}</td>
      <td>{unitsText(units)}</td>
    </tr>
  ))
}

interface SumRowProps {
  readonly name: string
  readonly usd: ReactNode
  readonly units: ReactNode
  readonly strong?: boolean
}

function SumRow({ name, usd, units, strong = false }: SumRowProps) {
  return (
    <tr data-strong={strong}>
      <th scope="row" colSpan={3}>
        {name}
      </th>
      <td>{usd}</td>
      <td>{units}</td>
    </tr>
  )
}

function Verdict({ bill, charged }: { bill: Bill; charged: number }) {
  const say = useText(detailsTexts)
  if (bill.agrees) {
    return (
      <p className={styles.agrees}>
        <IconCheck size={16} stroke={2.4} aria-hidden="true" />
        {say('agrees')}
      </p>
    )
  }
  const difference = charged - bill.units
  return (
    <Notice kind="danger" title={say('differs')}>
      {say('differsBody', {
        expected: formatCount(bill.units),
        charged: formatCount(charged),
        difference: `${difference > 0 ? '+' : ''}${formatCount(difference)}`,
      })}
    </Notice>
  )
}

const numberOf = (amount: Decimal): number => Number(decimalText(amount))

/** Exact, with thousands separators. */
function unitsText(amount: Decimal): string {
  const [whole = '', ...fraction] = decimalText(amount).split('.')
  return [BigInt(whole).toLocaleString('en-US'), ...fraction].join('.')
}
