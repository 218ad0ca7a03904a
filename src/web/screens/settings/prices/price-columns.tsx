import type { PriceProposal } from '../../../../contract/routes/pricing.ts'
import { useText } from '../../../lib/i18n.ts'
import { usdText } from '../../../lib/prices.ts'
import type { Column } from '../../../ui/list/listing.ts'
import shared from '../../../ui/shared.module.css'
import { PriceChange } from './price-change.tsx'
import type { PriceName } from './price-rows.ts'
import styles from './prices.module.css'
import { texts } from './texts.ts'

/** The prices of every model, and those of some models only. */
export const alwaysPriced: readonly PriceName[] = ['input', 'output']
export const sometimesPriced: readonly PriceName[] = [
  'cache_read',
  'cache_write',
  'cache_audio_read',
  'cache_image_read',
  'audio_input',
  'audio_output',
  'image_input',
  'image_output',
  'video_output',
]

/** US dollars per million tokens: at present, proposed, and the difference. */
export function usePriceColumns(proposals: readonly PriceProposal[]): Column<PriceProposal>[] {
  const say = useText(texts)
  const named = sometimesPriced.filter((name) => proposals.some(({ proposed }) => proposed[name] !== null))
  return [
    {
      key: 'model',
      title: say('model'),
      heads: true,
      sortKey: 'model',
      cell: ({ model, vendor, steps_above: above }) => (
        <span className={styles.model}>
          {model}
          <small className={shared.aside}>{vendor}</small>
          {above !== null && <small className={shared.aside}>{say('steps', { count: above.toLocaleString('en-US') })}</small>}
        </span>
      ),
    },
    ...[...alwaysPriced, ...named].map(
      (name): Column<PriceProposal> => ({
        key: name,
        title: say(name),
        ...(name === 'input' ? { sortKey: 'change' } : {}),
        // Prices that the data lacks stay unchanged.
        cell: (proposal) => (proposal.proposed[name] === null ? null : <PriceCell proposal={proposal} name={name} />),
      }),
    ),
  ]
}

function PriceCell({ proposal, name }: { proposal: PriceProposal; name: PriceName }) {
  const say = useText(texts)
  const { current, current_per_call: perCall, proposed } = proposal
  const before = perCall !== null && name === 'input' ? say('perCall', { usd: usdText(perCall) }) : undefined
  return <PriceChange now={current?.[name] ?? null} becomes={proposed[name] ?? 0} before={before} stacked />
}
