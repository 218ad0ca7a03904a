import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import type { PricedModel } from '../../../../contract/routes/pricing.ts'
import { useText } from '../../../lib/i18n.ts'
import { usdText } from '../../../lib/prices.ts'
import { useWrite } from '../../../lib/query.ts'
import type { Column } from '../../../ui/list/listing.ts'
import shared from '../../../ui/shared.module.css'
import { PriceSource } from '../../../ui/view/price-source.tsx'
import styles from './ratios.module.css'
import { texts } from './texts.ts'

/** The price source of each model, by name. */
export type PriceSources = ReadonlyMap<string, PricedModel>

interface SourceColumnInput {
  readonly sources: PriceSources
  readonly date: string
  /** The list shows models without a price: their public prices. */
  readonly isUnset: boolean
}

/** The source of a model's price, or a proposed price. */
export function useSourceColumn({ sources, date, isUnset }: SourceColumnInput): Column<string> {
  const say = useText(texts)
  return {
    key: 'source',
    title: say(isUnset ? 'publicPrice' : 'source'),
    hideable: true,
    cell: (name) => {
      const row = sources.get(name)
      if (isUnset) return <Offer row={row} />
      if (!row?.source) return null
      const { vendor, cheaper } = row.charged ?? {}
      return (
        <span className={styles.source}>
          <PriceSource
            source={row.source}
            {...(vendor === undefined ? {} : { vendor, date })}
            {...(cheaper ? { cheaper } : {})}
            className={shared.note}
          />
          {row.charged?.steps.map(({ above, prices }) => (
            <small key={above} className={shared.note}>
              {say('above', {
                count: above.toLocaleString('en-US'),
                input: usdText(prices.input),
                output: usdText(prices.output),
              })}
            </small>
          ))}
        </span>
      )
    },
  }
}

function Offer({ row }: { row: PricedModel | undefined }) {
  const say = useText(texts)
  const { proposal, uncovered } = row ?? {}
  if (!proposal) return <small className={shared.note}>{say('noOffer')}</small>
  const { vendor, proposed, steps_above: above } = proposal
  return (
    <span className={styles.source}>
      {say('offer', { vendor, input: usdText(proposed.input), output: usdText(proposed.output) })}
      {above !== null && <small className={shared.note}>{say('offerSteps', { count: above.toLocaleString('en-US') })}</small>}
      {uncovered && <small className={shared.note}>{say(uncovered === 'free' ? 'uncoveredFree' : 'uncoveredUnit')}</small>}
    </span>
  )
}

/** Adopts the public prices of the models that have one in the data. */
export function TakePrices({
  models,
  sources,
  hasDrafts,
}: {
  readonly models: readonly string[]
  readonly sources: PriceSources
  /** Figures were typed and not applied. */
  readonly hasDrafts: boolean
}) {
  const say = useText(texts)
  // The bulk action leaves out models that the data prices only in part or lacks.
  const offered = models.filter((model) => sources.get(model)?.proposal && !sources.get(model)?.uncovered)
  const take = useWrite('POST /api/pricing/proposals', {
    invalidates: ['GET /api/pricing/models', 'GET /api/pricing/proposals', 'GET /api/option/'],
    success: ({ accepted }) => say('taken', { count: accepted }),
  })
  return (
    <Button
      leftSection={<IconDownload size={16} />}
      disabled={offered.length === 0 || hasDrafts}
      loading={take.isPending}
      onClick={() => take.mutate({ body: { models: offered } })}
    >
      {say('take', { count: offered.length })}
    </Button>
  )
}
