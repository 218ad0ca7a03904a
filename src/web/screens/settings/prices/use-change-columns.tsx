import type { PriceChange, TokenPrices } from '../../../../contract/routes/pricing.ts'
import { useText } from '../../../lib/i18n.ts'
import { usdText } from '../../../lib/prices.ts'
import type { Column } from '../../../ui/list/listing.ts'
import shared from '../../../ui/shared.module.css'
import { Tag } from '../../../ui/view/tag.tsx'
import { newerTexts } from './newer-texts.ts'
import { PriceChange as PriceChangeView } from './price-change.tsx'
import { alwaysPriced, sometimesPriced } from './price-columns.tsx'
import styles from './prices.module.css'
import { texts } from './texts.ts'

/** US dollars per million tokens: in use, in the newer data, and the difference. */
export function useChangeColumns(changes: readonly PriceChange[]): Column<PriceChange>[] {
  const say = useText(newerTexts)
  const nameOf = useText(texts)
  const named = sometimesPriced.filter((name) => changes.some((change) => isChanged(change, name)))
  return [
    { key: 'model', title: say('model'), heads: true, cell: (change) => <Model change={change} /> },
    ...[...alwaysPriced, ...named].map(
      (name): Column<PriceChange> => ({
        key: name,
        title: nameOf(name),
        cell: (change) => <Price change={change} name={name} />,
      }),
    ),
  ]
}

function isChanged({ before, after }: PriceChange, name: keyof TokenPrices): boolean {
  return (before?.prices[name] ?? null) !== (after?.prices[name] ?? null)
}

function Model({ change: { model, vendor, from, served, before, after, warning } }: { change: PriceChange }) {
  const say = useText(newerTexts)
  return (
    <span className={styles.model}>
      {model}
      <small className={shared.aside}>{[vendor, ...(from === '' ? [] : [say('from', { date: from })])].join(' · ')}</small>
      <Steps before={before?.steps ?? []} after={after?.steps ?? []} />
      <span className={styles.tags}>
        {warning && <Tag color="red">{say(warning)}</Tag>}
        {!before && <Tag color="sluice">{say('isAdded')}</Tag>}
        {!after && <Tag color="gray">{say('isRemoved')}</Tag>}
        {after?.uncovered && <Tag color="gray">{say(after.uncovered)}</Tag>}
        {served && <Tag>{say('isServed')}</Tag>}
      </span>
    </span>
  )
}

type StepsOf = NonNullable<PriceChange['before']>['steps']

/** The prices of long prompts; removed ones are struck through. */
function Steps({ before, after }: { before: StepsOf; after: StepsOf }) {
  const say = useText(newerTexts)
  const text = ({ above, prices: { input, output } }: StepsOf[number]) =>
    say('steps', { count: above.toLocaleString('en-US'), input: usdText(input), output: usdText(output) })
  const stay = new Set(after.map(text))
  const gone = before.map(text).filter((line) => !stay.has(line))
  const aside = `${shared.note} ${shared.aside}`
  return (
    <>
      {gone.map((line) => (
        <del key={line} className={aside}>
          {line}
        </del>
      ))}
      {[...stay].map((line) => (
        <span key={line} className={aside}>
          {line}
        </span>
      ))}
    </>
  )
}

function Price({ change: { before, after }, name }: { change: PriceChange; name: keyof TokenPrices }) {
  const was = before?.prices[name] ?? null
  const becomes = after?.prices[name] ?? null
  if (becomes !== null) return <PriceChangeView now={was} becomes={becomes} stacked />
  return was === null ? null : <del className={shared.aside}>{usdText(was)}</del>
}
