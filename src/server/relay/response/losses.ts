import { AppError } from '../../lib/failure.ts'
import type { Format } from '../../protocols/format.ts'
import { asksForSomething } from '../../protocols/unread-members.ts'
import { arrayAt, isObject, type JsonObject, objectAt } from '../../protocols/wire-format.ts'
import type { Work } from '../relay-parts.ts'
import { UpstreamFailure } from '../upstream/failure.ts'

/** Fields of a request that the form of an upstream cannot carry: named to the caller and in the log, and refused to who is strict. */
export class DroppedFields {
  readonly #names: Set<string>

  /** With what was taken out of the request before. */
  constructor({ leftOut }: Pick<Work, 'leftOut'>) {
    this.#names = new Set(leftOut)
  }

  readonly lose = (field: string): void => {
    this.#names.add(plainName(field))
  }

  /** Throws `untranslatable` when something was lost and the token allows nothing to be lost. */
  requireAllowed({ caller }: Work): void {
    if (caller.isStrict && this.#names.size > 0) throw strictlyRefused([...this.#names])
  }

  note(work: Work, format: Format, hostedTools: readonly string[]): void {
    const dropped = [...this.#names].sort().slice(0, keptMax)
    work.translation = { format, dropped, hostedTools, replyDropped: [] }
    tellDropped(work, dropped)
  }
}

/**
 * What the changes of a provider take out of a request that passes in its own format, by name: what the host or the model refuses. Members
 * that only move, to the address, to a header or to another name, are none; nor is what says what holds anyway.
 */
export function takenOut(body: JsonObject, changes: Readonly<Record<string, unknown>>, format: Format): string[] {
  if (!conversations.has(format)) return []
  const isLimit = (name: string) => name === 'max_tokens' || name === 'max_completion_tokens'
  const isMoved = (name: string) =>
    moved.has(name) || (isLimit(name) && Object.keys(changes).some((other) => other !== name && isLimit(other)))
  const names = Object.keys(changes).filter((name) => {
    if (name === 'tools') return asksStrictTools(body)
    if (name === 'response_format') return true
    return changes[name] === undefined && !isMoved(name) && !isNeutral(name, body[name])
  })
  return names.map((name) => (name === 'tools' ? 'strict' : plainName(name)))
}

const conversations: ReadonlySet<Format> = new Set<Format>(['openai.chat', 'openai.responses', 'anthropic.messages'])

const moved: ReadonlySet<string> = new Set(['model', 'stream', 'stream_options', 'anthropic_version', 'anthropic_beta'])

function isNeutral(name: string, value: unknown): boolean {
  if (!asksForSomething(value) || value === '') return true
  // Where no tool is offered there is no choice.
  if (name === 'tool_choice') return value === 'auto' || value === 'none'
  return value === 0 ? /penalty$/.test(name) : value === 'auto' || value === 'default'
}

function asksStrictTools(body: JsonObject): boolean {
  return arrayAt(body, 'tools').some((tool) => isObject(tool) && objectAt(tool, 'function')?.strict === true)
}

/** Names to the caller what the upstream does not get. */
export function tellDropped({ call }: Pick<Work, 'call'>, names: readonly string[]): void {
  call.tell('x-sluice-dropped', names.slice(0, shownMax).join(', '))
}

/** What a token is told that allows nothing to be lost. */
export function strictlyRefused(names: readonly string[]): AppError {
  return new AppError('untranslatable', { field: names.join(', '), reason: strictly })
}

const strictly = {
  zh: '该令牌不允许在协议转换中丢弃内容',
  en: 'the token allows nothing to be lost when a request is carried to another protocol',
}

/** Callers name their fields as they like; what stands in a header and in the log is short and plain. */
export function plainName(field: string): string {
  return field.slice(0, 64).replace(/[^\x21-\x2b\x2d-\x7e]/g, '?')
}

const shownMax = 40
const keptMax = 200

/** Why a channel is not asked: what has no price is among the tools that go to it. Without `sent` everything goes. */
export function unpricedOf({ unpriced = [] }: Pick<Work, 'unpriced'>, sent?: readonly string[]): UpstreamFailure | undefined {
  const ordered = unpriced.find(({ tool }) => sent === undefined || sent.includes(tool))
  return ordered && new UpstreamFailure('untranslatable', { own: ordered.refusal })
}
