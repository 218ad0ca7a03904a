import { useQueryClient } from '@tanstack/react-query'
import { useText } from '../../../lib/i18n.ts'
import { invalidate } from '../../../lib/query.ts'
import { toast } from '../../../lib/toast.ts'
import { texts as listTexts } from '../texts.ts'
import { testChannel } from '../use-channel-test.ts'

/** Tests the saved channels one after another, and shows the result of each, even after the form is closed. */
export function useTestAfter(): (ids: readonly number[], name: string) => Promise<void> {
  const say = useText(listTexts)
  const client = useQueryClient()

  return async (ids, name) => {
    for (const id of ids) {
      const shown = ids.length > 1 ? `${name} #${id}` : name
      try {
        const seconds = await testChannel({ id })
        toast.success(say('testOk', { name: shown, seconds: seconds.toFixed(2) }))
      } catch (cause) {
        toast.error(say('testFailed', { name: shown, reason: cause instanceof Error ? cause.message : String(cause) }))
      }
      await invalidate(client, ['GET /api/channel/search'])
    }
  }
}
