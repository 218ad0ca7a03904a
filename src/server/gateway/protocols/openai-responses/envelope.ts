import type { Family, Opaque } from '../dialogue.ts'
import { isObject, type JsonObject } from '../wire-format.ts'

/**
 * Opaque state of other families in the items of a Responses caller, which stores `encrypted_content` and returns it unchanged:
 * `sluice:<family>:<kind>:<place>:<value>`. No vendor writes a colon there. Reasoning without state gets an empty envelope, so that
 * the gateway's own items can be recognised: the vendor does not have their ids.
 */
export interface Sealed {
  readonly opaque: Opaque | undefined
  /** What the state belongs to: the reasoning itself, the text before it, or the call with an id. */
  readonly place: 'here' | 'text' | { readonly callId: string }
}

const prefix = 'sluice:'
const here: Sealed['place'] = 'here'

/** State of the vendor itself is unchanged; all other state, including none, is put into an envelope. */
export function writeSealed({ opaque, place }: Sealed): string {
  if (opaque === undefined) return prefix
  if (place === 'here' && opaque.family === 'openai' && opaque.kind === 'encrypted') return opaque.value
  const where = place === 'here' ? '' : place === 'text' ? place : `call=${Buffer.from(place.callId).toString('base64url')}`
  return `${prefix}${opaque.family}:${opaque.kind}:${where}:${opaque.value}`
}

/** Reads `encrypted_content` of a vendor or of the gateway. An invalid envelope counts as empty. */
export function readSealed(content: string): Sealed {
  if (content === '') return { opaque: undefined, place: here }
  if (!content.startsWith(prefix)) return { opaque: { family: 'openai', kind: 'encrypted', value: content }, place: here }
  const [, family, kind, where = '', value = ''] = /^sluice:(\w+):(\w+):([\w=-]*):([\s\S]*)$/.exec(content) ?? []
  if (!isFamily(family) || !isKind(kind) || value === '') return { opaque: undefined, place: here }
  return { opaque: { family, kind, value }, place: placeOf(where) }
}

/**
 * Whether an input item is reasoning with another family's state, or with an empty envelope of the gateway, which no vendor wrote.
 */
export function isEnvelope(item: unknown): item is JsonObject {
  return isObject(item) && typeof item.encrypted_content === 'string' && item.encrypted_content.startsWith(prefix)
}

function placeOf(where: string): Sealed['place'] {
  if (where === 'text') return where
  return where.startsWith('call=') ? { callId: Buffer.from(where.slice(5), 'base64url').toString() } : here
}

function isFamily(text: string | undefined): text is Family {
  return text === 'openai' || text === 'anthropic' || text === 'google'
}

function isKind(text: string | undefined): text is Opaque['kind'] {
  return text === 'signature' || text === 'redacted' || text === 'encrypted'
}
