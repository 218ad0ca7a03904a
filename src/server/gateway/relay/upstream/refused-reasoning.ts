import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { upTo } from '../../../base/lib/collections/cache-size.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'

/**
 * Reasoning of earlier turns that an upstream has refused, because it was bound to another account, another model or an edited
 * conversation. Clients send it again with every turn: it is left out at once, and the reasoning that the upstream wrote after it
 * remains valid, because that was written without it. By key; a changed channel is a new object, and is sent everything again.
 */
const refusedBy = new WeakMap<RunningChannel, LRUCache<string, true>>()
const refusedMax = 5000

/** Remembers the last reasoning of a request that a key has answered only without it. */
export function noteRefusedReasoning(channel: RunningChannel, seal: string): void {
  const refused = refusedBy.get(channel) ?? new LRUCache<string, true>(upTo(refusedMax))
  refusedBy.set(channel, refused)
  refused.set(hashOf(seal), true)
}

/** Whether a key has refused reasoning with a seal; undefined for one that has refused none. */
export function refusedReasoning(channel: RunningChannel): ((seal: string) => boolean) | undefined {
  const refused = refusedBy.get(channel)
  return refused && ((seal) => seal !== '' && refused.get(hashOf(seal)) === true)
}

function hashOf(seal: string): string {
  return hash('sha1', seal, 'base64url')
}
