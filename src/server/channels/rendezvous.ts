import { createHash } from 'node:crypto'

/** A node of the hash: a channel or key that may serve a conversation. */
export interface WeightedNode {
  readonly id: number
  /** 1 when absent. */
  readonly weight?: number
}

/**
 * Whether one node ranks higher than another for this conversation, by weighted rendezvous hashing: every server finds the same one without
 * communication, each gets a share of conversations in proportion to its weight, and when one is removed only its own conversations move. Pure.
 */
export function ranksHigher(session: string, one: WeightedNode, other: WeightedNode): boolean {
  return scoreOf(session, one) > scoreOf(session, other)
}

function scoreOf(session: string, { id, weight = 1 }: WeightedNode): number {
  const drawn = (createHash('sha1').update(`${session} ${id}`).digest().readUInt32BE(0) + 0.5) / 2 ** 32
  return -weight / Math.log(drawn)
}
