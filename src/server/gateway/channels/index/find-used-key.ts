import type { Snapshot } from '../../../base/lib/collections/snapshot.ts'
import { AppError } from '../../../base/lib/failure.ts'
import type { Core } from '../../../base/options/core.ts'
import { type ChannelIndex, openChannel, type RunningChannel } from './model-index.ts'

/** The key of an earlier request, although its channel may be disabled by now; undefined when the channel was deleted. */
export async function findUsedKey(
  app: Core & { readonly channels: Snapshot<ChannelIndex> },
  { channelId, keyId }: { readonly channelId: number; readonly keyId: number },
): Promise<RunningChannel | undefined> {
  const running = app.channels.current.keysOf(channelId).find((key) => key.keyId === keyId)
  if (running) return running
  try {
    const { keys } = await openChannel(app, channelId)
    return keys.find((key) => key.keyId === keyId) ?? keys[0]
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined
    throw error
  }
}
