import { groupsToTry } from '../../pricing/groups.ts'
import { isObject } from '../../protocols/wire-format.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'
import type { Body } from '../http/read-body.ts'
import type { RelayParts } from '../relay-parts.ts'

/**
 * The playground sends a Chat request with a `group`, and numbers of 0 that mean "not set". This makes it a plain Chat request of a
 * caller in that group. Throws `group_forbidden`.
 */
export function readPlayground(app: RelayParts, caller: RelayCaller, sent: Body): { caller: RelayCaller; body: Body } {
  const { group, ...rest } = sent.json
  const tokenGroup = typeof group === 'string' ? group : ''
  const inGroup = { ...caller, tokenGroup, tokenName: `playground-${tokenGroup || caller.userGroup}` }
  groupsToTry(app.options.current, inGroup)

  const messages = Array.isArray(rest.messages) ? rest.messages.map(plainMessage) : rest.messages
  const kept = Object.entries(rest).filter(([key, value]) => !(value === 0 && unsetByZero.has(key)))
  const json = { ...Object.fromEntries(kept), messages }
  return { caller: inGroup, body: { json, bytes: Buffer.from(JSON.stringify(json)) } }
}

const unsetByZero = new Set(['max_tokens', 'max_completion_tokens', 'temperature'])

/** Consoles mark messages with an id, a time and a state of their own, which upstreams refuse. */
function plainMessage(message: unknown): unknown {
  if (!isObject(message)) return message
  const { id, createAt, createdAt, status, ...plain } = message
  return plain
}
