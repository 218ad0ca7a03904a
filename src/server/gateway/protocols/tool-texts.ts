import type { TextPart } from './dialogue.ts'
import { isObject } from './wire-format.ts'

/** A tool call as text, for upstreams without such calls. `input` is JSON or free text. */
export function toolCallAsText(name: string, input: string): string {
  return `[Called the tool ${name} with ${input || '{}'}]`
}

/** A tool result as text. */
export function toolResultAsText(name: string, answer: string, isError = false): string {
  return `[The tool ${name} answered] ${isError ? 'Error: ' : ''}${answer}`
}

/** A use of a hosted tool that models of other vendors lack: its input, its result, or both, as the vendor writes them. */
export interface HostedToolUse {
  readonly name: string
  readonly input?: unknown
  readonly answer?: unknown
  readonly isError?: boolean
}

/**
 * A use of a hosted tool as text in its turn, on separate lines, since the request declares no tool for such a call. Empty when
 * there is no content. `lose` gets the names of members that only the vendor can read, such as encrypted ones.
 */
export function hostedUseAsText({ name, input, answer, isError }: HostedToolUse, lose: (member: string) => void): TextPart[] {
  const asked = readable(input, lose)
  const answered = readable(answer, lose)
  const lines = [
    ...(asked === '' ? [] : [toolCallAsText(name, asked)]),
    ...(answered === '' ? [] : [toolResultAsText(name, answered, isError)]),
  ]
  return lines.length === 0 ? [] : [{ kind: 'text', text: `\n${lines.join('\n')}\n` }]
}

/** The instruction for a paused model, so that the conversation does not end with its own turn. */
export const continueText: TextPart = { kind: 'text', text: 'Continue.' }

/**
 * A text unchanged, a list line by line, an object with only one string besides `type` as that string, and everything else as JSON.
 */
function readable(value: unknown, lose: (member: string) => void): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) {
    const lines = value.map((entry) => readable(entry, lose))
    return lines.filter((line) => line !== '').join('\n')
  }
  const shown = visible(value, lose, 0)
  if (!isObject(shown)) return JSON.stringify(shown)
  const { type, ...members } = shown
  const [only, ...more] = Object.values(members)
  if (typeof type === 'string' && typeof only === 'string' && more.length === 0) return only
  return Object.keys(shown).length === 0 ? '' : JSON.stringify(shown)
}

/** The value without encrypted members, bytes, and empty members. */
function visible(value: unknown, lose: (member: string) => void, depth: number): unknown {
  if (depth > depthMax) return value
  if (Array.isArray(value)) return value.map((entry) => visible(entry, lose, depth + 1))
  if (!isObject(value)) return value
  const kept = Object.entries(value).flatMap(([key, member]) => {
    if (member === null || (Array.isArray(member) && member.length === 0)) return []
    const isHidden = key.startsWith('encrypted_') || (key === 'data' && value.type === 'base64')
    if (!isHidden) return [[key, visible(member, lose, depth + 1)]]
    lose(key)
    return []
  })
  return Object.fromEntries(kept)
}

/** The depth to which bodies may be nested. */
const depthMax = 100
