import type { RunningChannel } from '../../channels/model-index.ts'

/** A channel that was changed is a new object, and is asked anew. */
const refusing = new WeakSet<RunningChannel>()

/** Whether this upstream has refused `stream_options`. */
export function refusesStreamOptions(channel: RunningChannel): boolean {
  return refusing.has(channel)
}

/** Notes that it did. */
export function noteStreamOptionsRefused(channel: RunningChannel): void {
  refusing.add(channel)
}
