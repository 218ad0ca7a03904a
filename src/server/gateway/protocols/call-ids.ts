import { createHash } from 'node:crypto'

/**
 * An id of a tool call in the form that an upstream accepts. A valid id is kept; every other becomes a hash of itself, so that a call
 * and its result match in every request of a conversation without stored state. Source: protocols notes 3.4.
 */
export function callIdFor(id: string, rule: CallIdRule): string {
  const { taken, prefix, length } = rules[rule]
  return taken.test(id) ? id : prefix + shortHash(id, length)
}

type CallIdRule = 'chat' | 'anthropic' | 'nine-alphanumerics'

/** The first `length` letters and digits of a hash of `text`; at most 40. */
export function shortHash(text: string, length: number): string {
  let number = BigInt(`0x${createHash('sha256').update(text).digest('hex')}`)
  let hash = ''
  while (hash.length < length) {
    hash += letters[Number(number % 62n)]
    number /= 62n
  }
  return hash
}

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Bedrock uses Anthropic's rule with at most 64 characters; the rule here is the stricter of the two. */
const rules: Readonly<Record<CallIdRule, { taken: RegExp; prefix: string; length: number }>> = {
  chat: { taken: /^[\s\S]{1,64}$/, prefix: 'call_', length: 24 },
  anthropic: { taken: /^[a-zA-Z0-9_-]{1,64}$/, prefix: 'call_', length: 24 },
  'nine-alphanumerics': { taken: /^[a-zA-Z0-9]{9}$/, prefix: '', length: 9 },
}
