import { openChannel, type RunningChannel } from '../channels/model-index.ts'
import { AppError } from '../lib/failure.ts'
import type { RelayParts } from '../relay/relay-parts.ts'

/** The key that a task was made with, although its channel may be disabled by now; undefined when the channel is gone. */
export async function channelOfTask(
  app: RelayParts,
  { channelId, keyId }: { channelId: number; keyId: number },
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
