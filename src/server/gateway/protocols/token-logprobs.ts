import type { TokenChance, TokenLogprob } from './reply-events.ts'
import { arrayAt, isObject, type JsonObject } from './wire-format.ts'

/** Log probabilities in the form that Chat and Responses share. Entries without a token or a number are skipped. */
export function readLogprobs(list: unknown): TokenLogprob[] {
  const entries = Array.isArray(list) ? list.filter(isObject) : []
  return entries.flatMap((entry) => {
    const chance = readChance(entry)
    const top = arrayAt(entry, 'top_logprobs').flatMap((other) => (isObject(other) ? (readChance(other) ?? []) : []))
    return chance ? [{ ...chance, top }] : []
  })
}

/** The same form. With `withBytes`, tokens get the bytes of their text if the upstream has reported none. */
export function writeLogprobs(tokens: readonly TokenLogprob[], { withBytes = false } = {}): JsonObject[] {
  const write = ({ token, logprob, bytes }: TokenChance): JsonObject => ({
    token,
    logprob,
    bytes: bytes ?? (withBytes ? [...Buffer.from(token)] : null),
  })
  return tokens.map((entry) => ({ ...write(entry), top_logprobs: entry.top.map(write) }))
}

function readChance({ token, logprob, bytes }: JsonObject): TokenChance | undefined {
  if (typeof token !== 'string' || typeof logprob !== 'number') return undefined
  return { token, logprob, bytes: Array.isArray(bytes) && bytes.every(isByte) ? bytes : null }
}

function isByte(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255
}
