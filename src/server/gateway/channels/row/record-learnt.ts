import type { Row } from '../../../base/db/schema.ts'
import { change } from '../../../base/options/change.ts'
import type { Core } from '../../../base/options/core.ts'
import type { Upstream } from '../../providers/provider.ts'
import { lockChannel } from './rows.ts'

/** The columns of a channel with what calls have shown about its upstream. */
type Learnt = Partial<Pick<Row<'channels'>, 'lacking' | 'prompt_additions'>>

/**
 * Stores what was learnt about the upstream of a channel and announces it to all nodes, unless the channel has another address since.
 * `learn` returns undefined when nothing changes. Throws `not_found`.
 */
export function recordLearnt(
  core: Core,
  channel: Pick<Upstream, 'id' | 'baseUrl'>,
  learn: (row: Row<'channels'>) => Learnt | undefined,
): Promise<void> {
  return change(core, undefined, async (within, report) => {
    const row = await lockChannel(core, within, channel.id)
    if (row.base_url !== '' && row.base_url !== channel.baseUrl) return
    const learnt = learn(row)
    if (!learnt) return
    await within.updateTable('channels').set(learnt).where('id', '=', channel.id).execute()
    report({ topic: 'channels', id: channel.id })
  })
}
