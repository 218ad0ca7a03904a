import type { AddressList } from '../lib/addresses.ts'

/** Who calls the relay: a user, by one of their tokens or (token id 0) from the playground. */
export interface RelayCaller {
  readonly userId: number
  readonly username: string
  readonly role: number
  readonly userGroup: string
  /** The user's `setting` JSON, parsed. */
  readonly acceptsUnpriced: boolean
  readonly tokenId: number
  readonly tokenName: string
  /** '' means the user's own group; `auto` tries the usable groups. */
  readonly tokenGroup: string
  /** Null when the token may use every model. */
  readonly modelLimits: ReadonlySet<string> | null
  /** Null when every address may use the token. */
  readonly allowedAddresses: AddressList | null
  /** Unix seconds, -1 never. */
  readonly expiresAt: number
  /** Channel that an admin asked for with `sk-<key>-<id>`; 0 for none. */
  readonly pinnedChannel: number
}

export interface Authenticator {
  /**
   * Finds the caller behind the first valid key of `candidates` (each as sent, with or without `sk-`).
   * Answers at once when the token is cached. Throws `token_missing`, `token_invalid`, `token_disabled`, `token_expired`,
   * `token_exhausted`, `token_address_forbidden`, `user_banned`, `channel_pin_forbidden` or `database_unavailable`.
   */
  authenticate(candidates: readonly string[], address: string): Promise<RelayCaller> | RelayCaller
  close(): void
}
