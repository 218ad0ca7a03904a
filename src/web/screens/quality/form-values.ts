import {
  type Expectation,
  type ExpectationKind,
  expectationLabels,
  type QualityCheck,
  type QualityCheckInput,
  qualityDefaults,
  qualityLimits,
  readTools,
} from '../../../contract/entities/quality-check.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import type { Preset } from './presets.ts'

/** Numbers are text while they are typed; expectations are JSON text, edited in rows. */
export interface Values {
  name: string
  enabled: boolean
  models: string[]
  channels: string[]
  system: string
  prompt: string
  tools: string
  expectations: string
  interval_minutes: string
  samples: number | string
  max_output_tokens: number | string
  window_runs: number | string
  threshold: number | string
  drop: number | string
}

export function valuesOf(check: QualityCheck): Values {
  const { channels, expectations, interval_minutes, ...rest } = check
  const { name, enabled, models, system, prompt, tools, samples, max_output_tokens, window_runs, threshold, drop } = rest
  return {
    ...{ name, enabled, models, system, prompt, tools, samples, max_output_tokens, window_runs, threshold, drop },
    channels: channels.map(String),
    expectations: writeExpectations(expectations),
    interval_minutes: String(interval_minutes),
  }
}

/** A new check from a preset. */
export function newValues(preset: Preset, name: string, models: readonly string[]): Values {
  const { samples, window_runs, threshold, drop, interval_minutes } = qualityDefaults
  return {
    ...{ name, enabled: true, models: [...models], channels: [], samples, window_runs, threshold, drop },
    interval_minutes: String(interval_minutes),
    ...questionOf(preset),
  }
}

export function questionOf({ system, prompt, tools, expectations, max_output_tokens }: Preset) {
  return { system, prompt, tools, max_output_tokens, expectations: writeExpectations(expectations) }
}

export function inputOf(values: Values): QualityCheckInput {
  const { samples, max_output_tokens, window_runs, threshold, drop, interval_minutes, channels, expectations, ...rest } = values
  return {
    ...rest,
    tools: rest.tools.trim(),
    channels: channels.map(Number),
    expectations: [...(readExpectations(expectations) ?? [])],
    interval_minutes: Number(interval_minutes),
    samples: within(samples, 1, qualityLimits.samplesMax),
    max_output_tokens: within(max_output_tokens, 1, qualityLimits.outputTokensMax),
    window_runs: within(window_runs, 1, qualityLimits.windowRunsMax),
    threshold: within(threshold, 0, 100),
    drop: within(drop, 0, 100),
  }
}

function within(typed: number | string, min: number, max: number): number {
  return Math.min(max, Math.max(min, Math.round(Number(typed) || 0)))
}

export function isTools(text: string): boolean {
  return text.trim() === '' || readTools(text) !== undefined
}

export function newExpectation(kind: ExpectationKind): Expectation {
  switch (kind) {
    case 'json':
      return { kind, members: [] }
    case 'tool':
      return { kind, name: '', arguments: '' }
    case 'tokens':
      return { kind, min: 1, max: 200 }
    default:
      return { kind, value: '', ignore_case: false }
  }
}

/** Undefined for text that rows cannot show. */
export function readExpectations(text: string): readonly Expectation[] | undefined {
  const list = text.trim() === '' ? [] : parseJson(text)
  if (!Array.isArray(list)) return undefined
  const read = list.flatMap((item) => {
    const kind = isJsonObject(item) ? kinds.find((each) => each === item.kind) : undefined
    // Its members are checked by the server, too.
    return kind ? [{ ...newExpectation(kind), ...item } as Expectation] : []
  })
  return read.length === list.length ? read : undefined
}

export function writeExpectations(rows: readonly Expectation[]): string {
  return rows.length === 0 ? '' : JSON.stringify(rows, null, 2)
}

// The keys of that object.
export const kinds = Object.keys(expectationLabels) as ExpectationKind[]

/** What a row still lacks, if anything. */
export function isComplete(expected: Expectation): boolean {
  switch (expected.kind) {
    case 'json':
      return true
    case 'tool':
      return expected.name !== '' && (expected.arguments === '' || isJsonObject(parseJson(expected.arguments)))
    case 'tokens':
      return expected.max > 0 && expected.min <= expected.max
    default:
      return expected.value.trim() !== ''
  }
}

export function areComplete(text: string): boolean {
  const rows = readExpectations(text)
  return rows !== undefined && rows.length > 0 && rows.length <= qualityLimits.expectationsMax && rows.every(isComplete)
}
