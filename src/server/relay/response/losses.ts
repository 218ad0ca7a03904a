import { AppError } from '../../lib/failure.ts'
import { nearestRatio } from '../../protocols/direct/image-forms.ts'
import type { Format } from '../../protocols/format.ts'
import { asksForSomething } from '../../protocols/unread-members.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import type { AdmittedRequest, AttemptState } from '../relay-parts.ts'
import { UpstreamFailure } from '../upstream/failure.ts'

/** Fields of a request that the form of an upstream cannot carry: named to the caller and in the log, and refused to who is strict. */
export class DroppedFields {
  readonly #names: Set<string>

  /** With what was taken out of the request before. */
  constructor({ leftOut }: Pick<AdmittedRequest, 'leftOut'>) {
    this.#names = new Set(leftOut)
  }

  readonly lose = (field: string): void => {
    this.#names.add(plainName(field))
  }

  /** Throws `untranslatable` when something was lost and the token allows nothing to be lost. */
  requireAllowed({ caller }: AdmittedRequest): void {
    if (caller.isStrict && this.#names.size > 0) throw strictError([...this.#names])
  }

  note(attempt: AttemptState, format: Format, hostedTools: readonly string[]): void {
    const dropped = [...this.#names].sort().slice(0, keptMax)
    attempt.translation = { format, dropped, hostedTools, replyDropped: [] }
    setDroppedHeader(attempt.request, dropped)
  }
}

/**
 * What the changes of a provider take out of a request that passes in its own format, JSON or a form, by name: what the host or the model
 * refuses. Members that only move, to the address, to a header or to another name, are none; nor is what says what holds anyway.
 */
export function removedMembers(body: JsonObject, changes: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(changes).flatMap((name) => {
    if (name === 'messages') return removedFromMessages(arrayAt(body, name), arrayAt(changes, name))
    if (name === 'tools') return asksStrictTools(body) ? ['strict'] : []
    const isOther = name === 'response_format' || (name === 'tool_choice' && changes[name] === 'auto')
    const isLost = changes[name] === undefined ? !isMoved(name, body, changes) : isOther
    return isLost && !isNeutral(name, body[name]) ? [name] : []
  })
  return names.map(plainName)
}

const moved: ReadonlySet<string> = new Set(['model', 'stream', 'stream_options', 'anthropic_version', 'anthropic_beta'])

/** Other words for a member, by which a host is told the same. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_completion_tokens'],
  ['max_completion_tokens', 'max_tokens'],
  ['dimensions', 'output_dimension'],
  ['encoding_format', 'embedding_type'],
  ['seed', 'random_seed'],
  ['temperature', 'do_sample'],
])

function isMoved(name: string, body: JsonObject, changes: Readonly<Record<string, unknown>>): boolean {
  const other = otherWords.get(name)
  if (other !== undefined) return changes[other] !== undefined
  return moved.has(name) || (name === 'size' && isRatio(textAt(body, name), changes.aspect_ratio))
}

/** Whether a ratio says what a size of an image says of its form. */
function isRatio(size: string, ratio: unknown): boolean {
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(size) ?? []
  if (!width || !height || typeof ratio !== 'string') return false
  return nearestRatio({ width: Number(width), height: Number(height) }, [ratio]).isExact
}

/** Members that fewer of the messages bear than before, as reasoning that a host does not want back. */
function removedFromMessages(before: readonly unknown[], after: readonly unknown[]): string[] {
  const counts = memberCounts(before)
  const remaining = memberCounts(after)
  return [...counts].flatMap(([member, count]) => ((remaining.get(member) ?? 0) < count ? [`messages.${member}`] : []))
}

function memberCounts(messages: readonly unknown[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const message of messages) {
    if (!isObject(message)) continue
    for (const [member, value] of Object.entries(message)) {
      if (asksForSomething(value) && value !== '') counts.set(member, (counts.get(member) ?? 0) + 1)
    }
  }
  return counts
}

function isNeutral(name: string, value: unknown): boolean {
  if (!asksForSomething(value) || value === '') return true
  // Where no tool is offered there is no choice.
  if (name === 'tool_choice') return value === 'auto' || value === 'none'
  // Models that are not asked how they give a picture give its bytes.
  if (name === 'response_format') return value === 'b64_json'
  if (name === 'quality' && value === 'standard') return true
  return value === 0 ? /penalty$/.test(name) : value === 'auto' || value === 'default'
}

function asksStrictTools(body: JsonObject): boolean {
  return arrayAt(body, 'tools').some((tool) => isObject(tool) && objectAt(tool, 'function')?.strict === true)
}

/** Names to the caller what the upstream does not get. */
export function setDroppedHeader({ call }: Pick<AdmittedRequest, 'call'>, names: readonly string[]): void {
  call.setHeader('x-sluice-dropped', names.slice(0, shownMax).join(', '))
}

/** What a token is told that allows nothing to be lost. */
export function strictError(names: readonly string[]): AppError {
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
export function unpricedOf(
  { unpriced = [] }: Pick<AdmittedRequest, 'unpriced'>,
  sent?: readonly string[],
): UpstreamFailure | undefined {
  const ordered = unpriced.find(({ tool }) => sent === undefined || sent.includes(tool))
  return ordered && new UpstreamFailure('untranslatable', { own: ordered.refusal })
}
