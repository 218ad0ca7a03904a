import { isDeepStrictEqual } from 'node:util'
import type { Expectation, FaultReason, QualityFault } from '../../../contract/entities/quality-check.ts'
import { readJson } from '../../base/lib/bytes/read-json.ts'
import { matchesName } from '../../gateway/channels/row/match-name.ts'
import { isObject } from '../../gateway/protocols/wire-format.ts'
import type { Answer } from './answer.ts'

/** The expectations that an answer does not meet; empty if it passes. Pure. */
export function faultsOf(expectations: readonly Expectation[], answer: Answer): QualityFault[] {
  return expectations.flatMap((expected, index) => {
    const fault = faultOf(expected, answer)
    return fault ? [{ index, kind: expected.kind, reason: fault.reason, detail: fault.detail.slice(0, detailMax) }] : []
  })
}

const detailMax = 200
/** Limit of the matched text: matching takes time in proportion to the product of both lengths. */
const matchedMax = 20_000

interface Fault {
  readonly reason: FaultReason
  readonly detail: string
}

function faultOf(expected: Expectation, answer: Answer): Fault | undefined {
  switch (expected.kind) {
    case 'exact':
      return met(
        same(answer.text.trim(), expected.ignore_case) === same(expected.value.trim(), expected.ignore_case),
        'differs',
        answer.text.trim(),
      )
    case 'contains':
      return met(
        same(answer.text, expected.ignore_case).includes(same(expected.value, expected.ignore_case)),
        'missing',
        expected.value,
      )
    case 'pattern':
      return met(
        matchesName(
          same(expected.value.trim(), expected.ignore_case),
          same(answer.text.trim(), expected.ignore_case).slice(0, matchedMax),
        ),
        'differs',
        answer.text.trim(),
      )
    case 'json':
      return jsonFault(expected.members, answer.text)
    case 'tool':
      return toolFault(expected, answer)
    case 'tokens':
      if (answer.outputTokens < expected.min) return { reason: 'too_few', detail: String(answer.outputTokens) }
      return met(answer.outputTokens <= expected.max, 'too_many', String(answer.outputTokens))
    default:
      return expected satisfies never
  }
}

function met(isMet: boolean, reason: FaultReason, detail: string): Fault | undefined {
  return isMet ? undefined : { reason, detail }
}

function same(text: string, ignoresCase: boolean): string {
  return ignoresCase ? text.toLowerCase() : text
}

function jsonFault(members: readonly string[], text: string): Fault | undefined {
  const value = readJson(unwrapped(text))
  if (value === undefined) return { reason: 'no_json', detail: text.trim() }
  const absent = members.find((path) => !hasMember(value, path.split('.')))
  return absent === undefined ? undefined : { reason: 'no_member', detail: absent }
}

/** Removes a code block around the text. */
function unwrapped(text: string): string {
  const bare = text.trim()
  if (!bare.startsWith('```') || !bare.endsWith('```')) return bare
  const begin = bare.indexOf('\n')
  return begin < 0 ? bare : bare.slice(begin + 1, -3)
}

function hasMember(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false
  // An own member; arrays have members by index.
  return hasMember((value as Record<string, unknown>)[name], rest)
}

function toolFault(expected: Extract<Expectation, { kind: 'tool' }>, { toolCalls }: Answer): Fault | undefined {
  const calls = toolCalls.filter(({ name }) => name === expected.name)
  if (calls.length === 0) return { reason: 'no_tool', detail: toolCalls.map(({ name }) => name).join(', ') }
  const wanted = expected.arguments === '' ? undefined : readJson(expected.arguments)
  if (!isObject(wanted)) return undefined
  const faults = calls.map((call) => argumentFault(wanted, call.arguments))
  return faults.includes(undefined) ? undefined : faults[0]
}

function argumentFault(wanted: Readonly<Record<string, unknown>>, text: string): Fault | undefined {
  const given = readJson(text)
  if (!isObject(given)) return { reason: 'bad_arguments', detail: text }
  const differing = Object.keys(wanted).find((name) => !isDeepStrictEqual(wanted[name], given[name]))
  if (differing === undefined) return undefined
  return { reason: 'argument_differs', detail: `${differing}: ${JSON.stringify(given[differing]) ?? '-'}` }
}
