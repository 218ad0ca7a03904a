import type { Family, Opaque } from '../dialogue.ts'
import { isObject, type JsonObject } from '../wire-format.ts'

/**
 * Sealed state of other families on its way through a caller of Responses, who only knows `encrypted_content` and gives it back as it
 * came: `sluice:<family>:<kind>:<place>:<value>`. No vendor writes a colon there. Reasoning without any state bears an empty one, so
 * that an item that we made is known again: the vendor would look for its id in vain.
 */
export interface Sealed {
  readonly opaque: Opaque | undefined
  /** What the state belongs to: the reasoning itself, the text before it, or the call of an id. */
  readonly place: 'here' | 'text' | { readonly callId: string }
}

const prefix = 'sluice:'
const here: Sealed['place'] = 'here'

/** State of the vendor itself stays as it is; all other state, and none at all, is put into an envelope. */
export function writeSealed({ opaque, place }: Sealed): string {
  if (opaque === undefined) return prefix
  if (place === 'here' && opaque.family === 'openai' && opaque.kind === 'encrypted') return opaque.value
  const where = place === 'here' ? '' : place === 'text' ? place : `call=${Buffer.from(place.callId).toString('base64url')}`
  return `${prefix}${opaque.family}:${opaque.kind}:${where}:${opaque.value}`
}

/** Reads `encrypted_content`, whoever wrote it. An envelope that makes no sense holds nothing. */
export function readSealed(content: string): Sealed {
  if (content === '') return { opaque: undefined, place: here }
  if (!content.startsWith(prefix)) return { opaque: { family: 'openai', kind: 'encrypted', value: content }, place: here }
  const [, family, kind, where = '', value = ''] = /^sluice:(\w+):(\w+):([\w=-]*):([\s\S]*)$/.exec(content) ?? []
  if (!isFamily(family) || !isKind(kind) || value === '') return { opaque: undefined, place: here }
  return { opaque: { family, kind, value }, place: placeOf(where) }
}

/** Whether an item of the input is reasoning that another family's state, or ours, stands in: its vendor never wrote it. */
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
