import { LRUCache } from 'lru-cache'
import { upTo } from '../../../base/lib/collections/cache-size.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Core } from '../../../base/options/core.ts'
import type { Dialogue, Opaque, Part, ReasoningPart, ToolCallPart, Turn } from '../../protocols/dialogue.ts'
import type { ReplyEvent } from '../../protocols/reply-events.ts'

/** The sealed state of one tool call. */
interface CallState {
  readonly reasoning: readonly ReasoningPart[]
  readonly opaque?: Opaque
}

/** The owner of the conversation: a token, or in the playground a user. State is never shared between owners. */
interface StateOwner {
  readonly tokenId: number
  readonly userId: number
}

/** A conversation that goes on keeps all of its state: vendors bind reasoning to all that came before it. */
const livesSeconds = 6 * 60 * 60
const renewedAfterSeconds = livesSeconds / 2
const sizeMax = 64 * 1024
const askedMax = 1000

/**
 * Reasoning signatures and similar state that a model requires in the next turn and the caller's dialect cannot carry. It is stored
 * for six hours after its last use with its tool call, encrypted, for all nodes.
 */
export class SealedStates {
  readonly #core: Core
  readonly #known = new LRUCache<string, { readonly state: CallState | undefined; readonly until: number }>(upTo(5000))

  constructor(core: Core) {
    this.#core = core
  }

  async keep(owner: StateOwner, { callId, reasoning, calls }: SealedState): Promise<void> {
    const until = seconds(this.#core.now()) + livesSeconds
    const ids = [...new Set([callId, ...calls.keys()])]
    const rows = ids.flatMap((id) => {
      const opaque = calls.get(id)
      const state: CallState = { reasoning: id === callId ? reasoning : [], ...(opaque ? { opaque } : {}) }
      const text = JSON.stringify(state)
      if (text.length > sizeMax || id.length > 200) return []
      this.#known.set(keyOf(owner, id), { state, until: until - renewedAfterSeconds })
      return [{ owner: nameOf(owner), call_id: id, state_sealed: this.#seal(owner, id, text), expires_at: until }]
    })
    if (rows.length === 0) return
    await this.#core.db
      .insertInto('sealed_states')
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['owner', 'call_id']).doUpdateSet((set) => ({
          state_sealed: set.ref('excluded.state_sealed'),
          expires_at: set.ref('excluded.expires_at'),
        })),
      )
      .execute()
  }

  /** Restores what the caller could not send: the reasoning before the calls of a turn, and the sealed state of each call. */
  async restore(dialogue: Dialogue, owner: StateOwner): Promise<Dialogue> {
    const bare = dialogue.turns.filter(lacksState).flatMap(callsOf)
    if (bare.length === 0) return dialogue
    const states = await this.#find(
      owner,
      bare.slice(-askedMax).map((call) => call.callId),
    )
    if (states.size === 0) return dialogue
    return { ...dialogue, turns: dialogue.turns.map((turn) => (lacksState(turn) ? restored(turn, states) : turn)) }
  }

  async purge(): Promise<void> {
    await this.#core.db.deleteFrom('sealed_states').where('expires_at', '<=', seconds(this.#core.now())).execute()
  }

  async #find(owner: StateOwner, callIds: readonly string[]): Promise<Map<string, CallState>> {
    const now = seconds(this.#core.now())
    const unknown = callIds.filter((id) => (this.#known.get(keyOf(owner, id))?.until ?? 0) <= now)
    if (unknown.length > 0) await this.#load(owner, unknown, now)
    const found = new Map<string, CallState>()
    for (const id of callIds) {
      const state = this.#known.get(keyOf(owner, id))?.state
      if (state) found.set(id, state)
    }
    return found
  }

  async #load(owner: StateOwner, callIds: readonly string[], now: number): Promise<void> {
    const rows = await this.#core.db
      .selectFrom('sealed_states')
      .select(['call_id', 'state_sealed', 'expires_at'])
      .where('owner', '=', nameOf(owner))
      .where('call_id', 'in', callIds)
      .where('expires_at', '>', now)
      .execute()
    // The absence of state is cached: state is stored before the caller receives the id of the call, never later.
    for (const id of callIds) this.#known.set(keyOf(owner, id), { state: undefined, until: now + livesSeconds })
    for (const row of rows) {
      // Written by `keep` alone, and sealed since.
      const state = JSON.parse(this.#core.secrets.open(row.state_sealed, placeOf(owner, row.call_id))) as CallState
      this.#known.set(keyOf(owner, row.call_id), { state, until: now + renewedAfterSeconds })
    }
    await this.#renew(owner, rows, now)
  }

  /** Extends the life of state that a conversation still uses. */
  async #renew(
    owner: StateOwner,
    rows: readonly { readonly call_id: string; readonly expires_at: number }[],
    now: number,
  ): Promise<void> {
    const aging = rows.filter((row) => row.expires_at <= now + renewedAfterSeconds).map((row) => row.call_id)
    if (aging.length === 0) return
    await this.#core.db
      .updateTable('sealed_states')
      .set({ expires_at: now + livesSeconds })
      .where('owner', '=', nameOf(owner))
      .where('call_id', 'in', aging)
      .execute()
  }

  #seal(owner: StateOwner, callId: string, text: string): string {
    return this.#core.secrets.seal(text, placeOf(owner, callId))
  }
}

function nameOf({ tokenId, userId }: StateOwner): string {
  return tokenId === 0 ? `user:${userId}` : `token:${tokenId}`
}

function keyOf(owner: StateOwner, callId: string): string {
  return `${nameOf(owner)} ${callId}`
}

function placeOf(owner: StateOwner, callId: string) {
  return { table: 'sealed_states', column: 'state_sealed', row: keyOf(owner, callId) }
}

function callsOf(turn: Turn): ToolCallPart[] {
  return turn.parts.filter((part) => part.kind === 'tool-call')
}

/** A turn with tool calls, for which no sealed state was sent. */
function lacksState({ role, parts }: Turn): boolean {
  if (role !== 'assistant' || !parts.some((part) => part.kind === 'tool-call')) return false
  return !parts.some((part) => (part.kind === 'reasoning' || part.kind === 'tool-call') && part.opaque !== undefined)
}

function restored(turn: Turn, states: ReadonlyMap<string, CallState>): Turn {
  const reasoning = callsOf(turn).flatMap((call) => states.get(call.callId)?.reasoning ?? [])
  // The restored reasoning includes the text that the caller did send back.
  const kept = reasoning.length > 0 ? turn.parts.filter((part) => part.kind !== 'reasoning') : turn.parts
  const sealed = kept.map((part): Part => {
    const opaque = part.kind === 'tool-call' ? states.get(part.callId)?.opaque : undefined
    return part.kind === 'tool-call' && opaque ? { ...part, opaque } : part
  })
  return { ...turn, parts: [...reasoning, ...sealed] }
}

/**
 * The state that a model requires with the calls of a reply: its reasoning before the first call, and the sealed state of each
 * call.
 */
export interface SealedState {
  /** The first call of the reply, which the reasoning belongs to. */
  readonly callId: string
  readonly reasoning: readonly ReasoningPart[]
  readonly calls: ReadonlyMap<string, Opaque>
}

/** Collects the sealed state of one reply from its events. */
export class SealedParts {
  readonly #reasoning = new Map<number, { text: string; opaque?: Opaque }>()
  readonly #callIds = new Map<number, string>()
  readonly #calls = new Map<string, Opaque>()

  /** Undefined for a reply without calls, or without sealed state. */
  get state(): SealedState | undefined {
    const [callId] = this.#callIds.values()
    const reasoning = [...this.#reasoning.values()].filter((part) => part.opaque !== undefined)
    if (callId === undefined || (reasoning.length === 0 && this.#calls.size === 0)) return undefined
    return { callId, reasoning: reasoning.map((part) => ({ kind: 'reasoning', ...part })), calls: this.#calls }
  }

  note(event: ReplyEvent): void {
    switch (event.type) {
      case 'open':
        if (event.block === 'reasoning') this.#reasoning.set(event.index, { text: '' })
        if (event.block === 'tool-call' || event.block === 'custom-tool-call') this.#callIds.set(event.index, event.callId)
        return
      case 'delta': {
        const thought = this.#reasoning.get(event.index)
        if (thought) thought.text += event.text
        return
      }
      case 'opaque': {
        const thought = this.#reasoning.get(event.index)
        if (thought) thought.opaque = event.opaque
        const callId = this.#callIds.get(event.index)
        if (callId !== undefined) this.#calls.set(callId, event.opaque)
        return
      }
      default:
        return
    }
  }
}
