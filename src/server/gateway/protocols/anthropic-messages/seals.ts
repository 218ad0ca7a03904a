import type { Family, Opaque } from '../dialogue.ts'

/**
 * Encrypted thinking of another vendor travels through a client of Messages as `redacted_thinking`: it stores the data and sends it
 * back. The vendor's own data is base64, which has no colon, so the two can be distinguished. Source: protocols notes 3.7.
 */
export function sealFor(opaque: Opaque): string {
  return opaque.family === 'anthropic' ? opaque.value : `${opaque.family}:${opaque.kind}:${opaque.value}`
}

/** The state in `redacted_thinking`. */
export function openSeal(data: string): Opaque {
  const [, family, kind, value] = /^(openai|google):(signature|redacted|encrypted):([\s\S]*)$/.exec(data) ?? []
  if (family === undefined || kind === undefined || value === undefined)
    return { family: 'anthropic', kind: 'redacted', value: data }
  // The expression above only matches names of families and kinds.
  return { family: family as Family, kind: kind as Opaque['kind'], value }
}
