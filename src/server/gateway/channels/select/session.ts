import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'

/**
 * The conversation of a request, so that it goes to the channel with the warm prompt cache. A session named by the caller is used;
 * otherwise the beginning of the conversation, which later turns repeat. Conversations of two callers are never mixed.
 */
export interface Session {
  readonly key: string
  /** The caller has named it, or it has been answered before. The first turn of an unnamed one may go to any channel. */
  readonly isKnown: boolean
}

export interface SessionFacts {
  /** The caller of the conversation: two callers may use one name. */
  readonly owner: string
  /** The same conversation with another model counts as another one. */
  readonly model: string
  readonly headers: IncomingHttpHeaders
  readonly body: JsonObject
}

/** Headers by which clients name their conversations, the most specific first. */
const headerNames = [
  'x-session-id',
  'session_id',
  'session-id',
  'x-session-affinity',
  'x-conversation-id',
  'conversation_id',
  'x-claude-code-session-id',
] as const

/** The compared length of each text and number of entries of each list: later differences do not matter. */
const comparedMax = 2000
const partsMax = 20

export function readSession({ owner, model, headers, body }: SessionFacts): Session | undefined {
  const named = nameIn(headers, body)
  if (named !== undefined) return { key: keyOf([owner, model, 'named', named]), isKnown: true }
  const start = startOf(body)
  if (!start) return undefined
  return { key: keyOf([owner, model, 'start', ...start.texts]), isKnown: start.isAnswered }
}

function nameIn(headers: IncomingHttpHeaders, body: JsonObject): string | undefined {
  const header = headerNames.map((name) => headers[name]).find((value) => typeof value === 'string' && value !== '')
  const conversation = body.conversation
  const names = [
    header,
    body.prompt_cache_key,
    objectAt(body, 'metadata')?.user_id,
    isObject(conversation) ? conversation.id : conversation,
  ]
  return names.find((name) => typeof name === 'string' && name !== '')?.toString()
}

/** The instructions and the first message, in any dialect. Undefined when there is no conversation. */
function startOf(body: JsonObject): { texts: string[]; isAnswered: boolean } | undefined {
  const turns = [...arrayAt(body, 'messages'), ...arrayAt(body, 'input'), ...arrayAt(body, 'contents')].filter(isObject)
  const isSaid = (turn: JsonObject) => !['system', 'developer'].includes(textAt(turn, 'role'))
  const first = turns.find(isSaid)
  if (!first) return undefined
  const instructions = turns.slice(0, turns.indexOf(first))
  const outside = [body.system, body.instructions, body.systemInstruction, body.system_instruction]
  return {
    texts: [...outside, ...instructions.map(({ content }) => content), first.content ?? first.parts].map(compared),
    isAnswered: turns.some(
      (turn) => ['assistant', 'model'].includes(textAt(turn, 'role')) || textAt(turn, 'type').endsWith('_call'),
    ),
  }
}

/** The beginning of a text, or the texts of a list: images are long, and clients move their cache marks from turn to turn. */
function compared(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, comparedMax)
  const parts = Array.isArray(value) ? value : isObject(value) ? arrayAt(value, 'parts') : []
  return parts
    .slice(0, partsMax)
    .map((part) => (typeof part === 'string' ? part : isObject(part) ? textAt(part, 'text') || textAt(part, 'type') : ''))
    .map((text) => text.slice(0, comparedMax))
    .join('\0')
}

function keyOf(parts: readonly string[]): string {
  return hash('sha1', parts.join('\0'), 'base64url')
}
