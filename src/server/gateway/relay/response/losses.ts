import { AppError } from '../../../base/lib/failure.ts'
import { nearestRatio } from '../../protocols/direct/image-forms.ts'
import type { Format } from '../../protocols/format.ts'
import { asksForSomething } from '../../protocols/unread-members.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import type { Translation } from './adapter.ts'

/** Request fields that the upstream's format cannot carry: listed in the response header and the log, refused for a strict token. */
export class DroppedFields {
  readonly #names: Set<string>

  /** Starts with the members that admission removed. */
  constructor({ leftOut }: Pick<AdmittedRequest, 'leftOut'>) {
    this.#names = new Set(leftOut)
  }

  readonly lose = (field: string): void => {
    this.#names.add(plainName(field))
  }

  /** The failure of the channel for a strict token; undefined when nothing was dropped, or the token allows it. */
  refusalFor({ caller }: AdmittedRequest): UpstreamFailure | undefined {
    const isRefused = caller.isStrict && this.#names.size > 0
    return isRefused ? new UpstreamFailure('untranslatable', { own: strictError([...this.#names]) }) : undefined
  }

  /** The translation of an attempt, which begins without losses in its reply. */
  translationTo(format: Format, hostedTools: readonly string[]): Translation {
    return { format, dropped: [...this.#names].sort().slice(0, keptMax), hostedTools, replyDropped: [] }
  }
}

/**
 * The names of members that a provider removes from a request in its own format, JSON or a form, because the host or the model
 * refuses them. Members that only move (to the URL, to a header, to another name) do not count, nor do members that repeat a
 * default.
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

/** Other names under which hosts accept a member. */
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

/** Whether an aspect ratio is equivalent to that of an image size. */
function isRatio(size: string, ratio: unknown): boolean {
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(size) ?? []
  if (!width || !height || typeof ratio !== 'string') return false
  return nearestRatio({ width: Number(width), height: Number(height) }, [ratio]).isExact
}

/** Members that were removed from messages, such as reasoning that a host refuses. */
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
  // The defaults: `auto` with tools, `none` without.
  if (name === 'tool_choice') return value === 'auto' || value === 'none'
  // Image models return bytes by default.
  if (name === 'response_format') return value === 'b64_json'
  if (name === 'quality' && value === 'standard') return true
  return value === 0 ? /penalty$/.test(name) : value === 'auto' || value === 'default'
}

function asksStrictTools(body: JsonObject): boolean {
  return arrayAt(body, 'tools').some((tool) => isObject(tool) && objectAt(tool, 'function')?.strict === true)
}

/** The response header that lists the dropped fields. */
export const droppedHeader = 'x-sluice-dropped'

/** Lists the dropped fields in their response header. */
export function setDroppedHeader({ call }: Pick<AdmittedRequest, 'call'>, names: readonly string[]): void {
  call.setHeader(droppedHeader, names.slice(0, shownMax).join(', '))
}

/** The error for a strict token, which allows no field to be dropped. */
export function strictError(names: readonly string[]): AppError {
  return new AppError('untranslatable', { field: names.join(', '), reason: strictly })
}

const strictly = {
  zh: '该令牌不允许在协议转换中丢弃内容',
  en: 'the token allows nothing to be lost when a request is carried to another protocol',
}

/** A field name as it appears in the header and the log: at most 64 printable ASCII characters, no comma. */
export function plainName(field: string): string {
  return field.slice(0, 64).replace(/[^\x21-\x2b\x2d-\x7e]/g, '?')
}

const shownMax = 40
const keptMax = 200

/**
 * The failure of a channel that would be sent a tool without a price; undefined when there is no such tool. Without `sent`, all
 * tools of the request are sent.
 */
export function unpricedOf(
  { unpriced = [] }: Pick<AdmittedRequest, 'unpriced'>,
  sent?: readonly string[],
): UpstreamFailure | undefined {
  const ordered = unpriced.find(({ tool }) => sent === undefined || sent.includes(tool))
  return ordered && new UpstreamFailure('untranslatable', { own: ordered.refusal })
}
