import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Channel } from '../../../contract/entities/channel.ts'
import { useText } from '../../lib/i18n.ts'
import { invalidate } from '../../lib/query.ts'
import { toast } from '../../lib/toast.ts'
import { texts } from './texts.ts'
import { testChannel } from './use-channel-test.ts'

/** Tests channels one after another; each row shows its result as soon as it is known. */
export function useBulkTest() {
  const say = useText(texts)
  const client = useQueryClient()
  const [progress, setProgress] = useState<{ readonly done: number; readonly count: number }>()

  async function run(channels: readonly Pick<Channel, 'id' | 'name'>[]): Promise<void> {
    const failed: string[] = []
    for (const [index, { id, name }] of channels.entries()) {
      setProgress({ done: index + 1, count: channels.length })
      // The row of the channel shows the reason.
      await testChannel({ id }).catch(() => failed.push(name))
      await invalidate(client, ['GET /api/channel/search'])
    }
    setProgress(undefined)
    const passed = channels.length - failed.length
    if (failed.length === 0) toast.success(say('testedEach', { passed }))
    else toast.error(say('testedFailed', { passed, failed: failed.length, names: failed.join(', ') }))
  }

  return { run, progress }
}
