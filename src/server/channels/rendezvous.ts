import { createHash } from 'node:crypto'

/** Something that wants to serve a conversation, with how much it can take. */
export interface Bidder {
  readonly id: number
  /** 1 when absent. */
  readonly weight?: number
}

/**
 * Whether one bidder comes before another for this conversation, by weighted rendezvous hashing: every node finds the same one without
 * asking, a share of conversations proportional to the weight goes to each, and when one goes only its own conversations move. Pure.
 */
export function standsHigher(session: string, one: Bidder, other: Bidder): boolean {
  return scoreOf(session, one) > scoreOf(session, other)
}

function scoreOf(session: string, { id, weight = 1 }: Bidder): number {
  const drawn = (createHash('sha1').update(`${session} ${id}`).digest().readUInt32BE(0) + 0.5) / 2 ** 32
  return -weight / Math.log(drawn)
}
