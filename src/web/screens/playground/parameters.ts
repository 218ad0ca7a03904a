import type { ChatRequest } from '../../lib/stream-chat.ts'

/** The table of all request parameters. Each has a switch: a parameter that is off is not sent, and the model's default applies. */

interface Range {
  readonly kind: 'range'
  readonly min: number
  readonly max: number
  readonly step: number
  readonly first: number
}

interface Count {
  readonly kind: 'count'
  readonly first: number
}

interface Choices {
  readonly kind: 'choice'
  readonly choices: readonly string[]
  readonly first: string
}

/** Whether it is sent by default. */
type Parameter = (Range | Count | Choices) & { readonly on: boolean }

export const parameters = {
  temperature: { kind: 'range', min: 0.1, max: 1, step: 0.1, first: 1, on: true },
  max_tokens: { kind: 'count', first: 0, on: true },
  top_p: { kind: 'range', min: 0.05, max: 1, step: 0.05, first: 1, on: false },
  frequency_penalty: { kind: 'range', min: -2, max: 2, step: 0.1, first: 0, on: false },
  presence_penalty: { kind: 'range', min: -2, max: 2, step: 0.1, first: 0, on: false },
  seed: { kind: 'count', first: 1, on: false },
  reasoning_effort: { kind: 'choice', choices: ['minimal', 'low', 'medium', 'high'], first: 'medium', on: false },
} as const satisfies Partial<Record<keyof ChatRequest, Parameter>>

export type ParameterName = keyof typeof parameters
export type ParameterValue = number | string

export interface ParameterState {
  readonly on: boolean
  readonly value: ParameterValue
}

export type ParameterStates = Readonly<Record<ParameterName, ParameterState>>

// The keys of the table are its names.
export const parameterNames = Object.keys(parameters) as readonly ParameterName[]

export const firstStates = Object.fromEntries(
  parameterNames.map((name) => [name, { on: parameters[name].on, value: parameters[name].first }]),
  // An entry was made for each name.
) as ParameterStates

/** The parameters to send. A limit of 0 tokens means none. */
export function sentOf(states: ParameterStates): Partial<ChatRequest> {
  const sent = parameterNames.filter((name) => states[name].on && !(name === 'max_tokens' && states[name].value === 0))
  return Object.fromEntries(sent.map((name) => [name, states[name].value]))
}

/** The states of a request that sends these values, and no others. */
export function statesOf(values: Readonly<Record<string, ParameterValue>>): ParameterStates {
  const states = parameterNames.map((name) => {
    const { first } = parameters[name]
    const value = values[name]
    return [name, typeof value === typeof first ? { on: true, value } : { on: false, value: first }]
  })
  // An entry was made for each name.
  return Object.fromEntries(states) as ParameterStates
}

export function areStates(value: unknown): value is ParameterStates {
  if (typeof value !== 'object' || value === null) return false
  const given: Readonly<Record<string, unknown>> = { ...value }
  return parameterNames.every((name) => isState(given[name], parameters[name].first))
}

function isState(value: unknown, first: ParameterValue): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { on, value: held }: { on?: unknown; value?: unknown } = value
  return typeof on === 'boolean' && typeof held === typeof first
}
