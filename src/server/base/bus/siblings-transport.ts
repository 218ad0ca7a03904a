import type { OwnerSiblings, Siblings, WorkerSiblings } from './siblings.ts'
import type { Receiver, Transport } from './transport.ts'

/** Notifications between the processes of one start: each acknowledges a change when it has it in force. */
export function openSiblingsTransport(siblings: Siblings, receiver: Receiver): Transport {
  const tell = siblings.isOwner ? tellFromOwner(siblings, receiver) : tellFromWorker(siblings, receiver)
  return {
    name: 'siblings',
    get isUp() {
      return siblings.isOwner || !siblings.owner.isClosed
    },
    send: tell,
    async close() {
      // The links are closed by their owner, `open-core.ts`.
    },
  }
}

function tellFromOwner(owner: OwnerSiblings, receiver: Receiver): Transport['send'] {
  owner.serve('news', async (message: string, from) => {
    await Promise.all([receiver.receive(message), owner.callAll('news', message, from)])
  })
  return async (message) => void (await owner.callAll('news', message))
}

function tellFromWorker(worker: WorkerSiblings, receiver: Receiver): Transport['send'] {
  worker.serve('news', (message: string) => receiver.receive(message))
  return (message) => worker.owner.call('news', message)
}
