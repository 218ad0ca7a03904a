import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../../../lib/call.ts'
import { useText } from '../../../lib/i18n.ts'
import { invalidate } from '../../../lib/query.ts'
import { toast } from '../../../lib/toast.ts'
import { confirm } from '../../../ui/confirm.tsx'
import { texts } from './price-offer-texts.ts'

const shownMax = 8

/**
 * After a channel was saved: lists its models without a price, calls to which would be refused, and offers to apply the public prices;
 * for models without public prices, offers to open the price settings.
 */
export function usePriceOffer(): (models: readonly string[]) => Promise<void> {
  const say = useText(texts)
  const client = useQueryClient()
  const navigate = useNavigate()

  async function offer(models: readonly string[]): Promise<void> {
    const saved = new Set(models)
    const { models: known } = await call('GET /api/pricing/models')
    const unpriced = known.filter(({ model, served, source }) => served && source === null && saved.has(model))
    if (unpriced.length === 0) return
    const offered = unpriced.flatMap(({ model, proposal, uncovered }) => (proposal && !uncovered ? [model] : []))
    const names = unpriced.slice(0, shownMax).map(({ model }) => model)
    const more = unpriced.length - names.length
    const isAccepted = await confirm({
      title: say('title', { count: unpriced.length }),
      object: more > 0 ? say('more', { models: names.join(', '), count: more }) : names.join(', '),
      body: offered.length > 0 ? say('offer', { count: offered.length }) : say('none'),
      confirmLabel: offered.length > 0 ? say('take', { count: offered.length }) : say('set'),
      cancelLabel: say('later'),
    })
    if (!isAccepted) return
    if (offered.length === 0) {
      await navigate({ to: '/setting', search: { tab: 'prices', view: 'unset' } })
      return
    }
    const { accepted } = await call('POST /api/pricing/proposals', { body: { models: offered } })
    await invalidate(client, ['GET /api/pricing/models', 'GET /api/pricing/proposals', 'GET /api/option/'])
    toast.success(say('taken', { count: accepted }))
  }

  return (models) => offer(models).catch(toast.failure)
}
