import type { Usage } from '../../../../contract/usage.ts'
import type { Core } from '../../../base/options/core.ts'
import type { Charge } from '../../../money/ledger/ledger.ts'
import type { Catalog } from '../../../money/pricing/catalog.ts'
import { costOf, priceMet } from '../../../money/pricing/quote.ts'
import type { AnsweredModels } from '../../channels/health/answered-models.ts'
import { type Billed, billedUsage } from './billed.ts'

export interface AnsweredParts extends Pick<Core, 'now'> {
  readonly answeredModels: AnsweredModels
  readonly catalog: Catalog
}

/** Counts a reply of another model than was sent, with what it would have cost at the price of that model. */
export function noteAnswered(
  app: AnsweredParts,
  { bill, channelId, sent }: { readonly bill: Billed; readonly channelId: number; readonly sent: string },
  { usage, charge }: { readonly usage: Usage; readonly charge: Charge },
): void {
  const { answeredModel: answered } = bill
  // What a vendor had announced is charged at its price.
  if (answered === undefined || bill.isRedirected) return
  app.answeredModels.note({ channelId, sent, answered, charged: charge.amount, cost: costAs(app, bill, { answered, usage }) })
}

function costAs(
  { catalog, now }: Pick<AnsweredParts, 'catalog' | 'now'>,
  bill: Billed,
  { answered, usage }: { readonly answered: string; readonly usage: Usage },
): number | undefined {
  if (catalog.modelPriceOf(answered) === undefined) return undefined
  const price = priceMet(catalog.priceOf({ model: answered, group: bill.group, acceptsUnpriced: false }), now())
  const billed = billedUsage({ ...bill, price }, usage)
  return costOf(price, billed.usage, billed.others)
}
