import type { QueryClient } from '@tanstack/react-query'
import type { UseNavigateResult } from '@tanstack/react-router'
import { call } from '../../../lib/call.ts'
import { textOf } from '../../../lib/i18n.ts'
import { invalidate } from '../../../lib/query.ts'
import { toast } from '../../../lib/toast.ts'
import { confirm } from '../../../ui/dialog/confirm.tsx'
import { texts } from './price-offer-texts.ts'

const shownMax = 8

export interface OfferTools {
  readonly client: QueryClient
  readonly navigate: UseNavigateResult<string>
}

/**
 * After a channel was saved: lists its models without a price, calls to which would be refused, and offers to apply the public prices;
 * for models without public prices, offers to open the price settings.
 */
export async function offerPrices(models: readonly string[], { client, navigate }: OfferTools): Promise<void> {
  const saved = new Set(models)
  const { models: known } = await call('GET /api/pricing/models')
  const unpriced = known.filter(({ model, served, source }) => served && source === null && saved.has(model))
  if (unpriced.length === 0) return
  const offered = unpriced.flatMap(({ model, proposal, uncovered }) => (proposal && !uncovered ? [model] : []))
  const isAccepted = await confirm(questionOf(unpriced, offered.length))
  if (!isAccepted) return
  if (offered.length === 0) {
    await navigate({ to: '/setting', search: { tab: 'prices', view: 'unset' } })
    return
  }
  const { accepted } = await call('POST /api/pricing/proposals', { body: { models: offered } })
  await invalidate(client, ['GET /api/pricing/models', 'GET /api/pricing/proposals', 'GET /api/option/'])
  toast.success(textOf(texts, 'taken', { count: accepted }))
}

function questionOf(unpriced: readonly { model: string }[], offered: number): Parameters<typeof confirm>[0] {
  const names = unpriced.slice(0, shownMax).map(({ model }) => model)
  const more = unpriced.length - names.length
  return {
    title: textOf(texts, 'title', { count: unpriced.length }),
    object: more > 0 ? textOf(texts, 'more', { models: names.join(', '), count: more }) : names.join(', '),
    body: offered > 0 ? textOf(texts, 'offer', { count: offered }) : textOf(texts, 'none'),
    confirmLabel: offered > 0 ? textOf(texts, 'take', { count: offered }) : textOf(texts, 'set'),
    cancelLabel: textOf(texts, 'later'),
  }
}
