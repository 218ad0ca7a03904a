import { expect, it, onTestFinished } from 'vitest'
import { newClock } from '../../../../../test/helpers/clock.ts'
import { freshCore } from '../../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../../test/helpers/databases.ts'
import { assistant, call, dialogueOf, thought } from '../../../../../test/helpers/dialogue.ts'
import { SealedStates } from './sealed-states.ts'

const owner = { tokenId: 1, userId: 1 }
const hour = 3600

/** The state before a call, whose signature is the id of the call. */
const before = (callId: string) => ({
  callId,
  reasoning: [thought('so', { family: 'anthropic', kind: 'signature', value: callId })],
  calls: new Map(),
})

/** The signatures that are restored in a conversation with these calls. */
async function restored(states: SealedStates, callIds: readonly string[]): Promise<string[]> {
  const { turns } = await states.restore(dialogueOf({ turns: callIds.map((id) => assistant(call(id))) }), owner)
  return turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'reasoning' ? (part.opaque?.value ?? '') : [])))
}

eachDatabase('the sealed state of calls', (fresh) => {
  async function open() {
    const clock = newClock()
    const { core, close } = await freshCore(fresh, { now: () => clock.now() })
    onTestFinished(close)
    return { clock, node: () => new SealedStates(core) }
  }

  it('lives six hours after its last use, on any node', async () => {
    const { clock, node } = await open()
    const first = node()
    for (const callId of ['used', 'unused']) await first.keep(owner, before(callId))
    for (let times = 0; times < 4; times++) {
      clock.passSeconds(2.5 * hour)
      expect(await restored(times % 2 === 0 ? node() : first, ['used'])).toEqual(['used'])
      await first.purge()
    }
    for (const each of [first, node()]) expect(await restored(each, ['used', 'unused'])).toEqual(['used'])
    clock.passSeconds(6 * hour)
    await first.purge()
    expect(await restored(node(), ['used'])).toEqual([])
  })

  it('is restored for every call of a long conversation, because reasoning is bound to all before it', async () => {
    const { node } = await open()
    const callIds = Array.from({ length: 200 }, (_, at) => `call-${at}`)
    const first = node()
    for (const callId of callIds) await first.keep(owner, before(callId))
    expect(await restored(node(), callIds)).toEqual(callIds)
  })
})
