import type { Siblings } from './siblings.ts'
import type { Receiver, Transport } from './transport.ts'

/** Notifications between the processes of one start. */
export function openSiblingsTransport(siblings: Siblings, receiver: Receiver): Transport {
  siblings.onAnnounced<string>('news', (message) => receiver.receive(message))
  return {
    name: 'siblings',
    get isUp() {
      return siblings.isOwner || !siblings.owner.isClosed
    },
    async send(message) {
      siblings.announce('news', message)
    },
    async close() {
      // The links are closed by their owner, `open-core.ts`.
    },
  }
}
