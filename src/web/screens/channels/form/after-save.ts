import type { QueryClient } from '@tanstack/react-query'
import { textOf } from '../../../lib/i18n.ts'
import { invalidate } from '../../../lib/query.ts'
import { toast } from '../../../lib/toast.ts'
import { texts as listTexts } from '../texts.ts'
import { testChannel } from '../use-channel-test.ts'
import { type OfferTools, offerPrices } from './price-offer.ts'

export interface Saved {
  readonly ids: readonly number[]
  /** The name for the messages of the test; undefined if no test is wanted. */
  readonly testedName: string | undefined
  /** The models whose prices are checked; empty if the save did not change them. */
  readonly models: readonly string[]
}

/** The steps after a save, which run even if the form is closed. Loaded on demand. */
export async function afterSave({ ids, testedName, models }: Saved, tools: OfferTools): Promise<void> {
  const tested = testedName === undefined ? undefined : testAll(ids, testedName, tools.client)
  await Promise.all([tested, models.length > 0 ? offerPrices(models, tools) : undefined])
}

/** Tests the saved channels one after another, and shows the result of each. */
async function testAll(ids: readonly number[], name: string, client: QueryClient): Promise<void> {
  for (const id of ids) {
    const shown = ids.length > 1 ? `${name} #${id}` : name
    try {
      const seconds = await testChannel({ id })
      toast.success(textOf(listTexts, 'testOk', { name: shown, seconds: seconds.toFixed(2) }))
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      toast.error(textOf(listTexts, 'testFailed', { name: shown, reason }))
    }
    await invalidate(client, ['GET /api/channel/search'])
  }
}
