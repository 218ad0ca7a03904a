import { knownModelLimits } from '../../../../contract/model-limits.ts'

/**
 * Features and limits of the Gemini models that requests depend on. The first matching row counts; an unknown name behaves as the
 * newest. Source: protocols notes 2.5, 3.5 to 3.8, and the vendor's pages on models and thinking, read 2026-11.
 */
export interface GeminiModel {
  readonly outputTokensMax: number
  readonly thinking: Thinking
  /** A call in the history must include its original signature. */
  readonly needsSignatures: boolean
  /** A JSON answer may be requested together with tools. */
  readonly jsonWithTools: boolean
  /** Tool results may contain media, and each medium may have its own resolution. */
  readonly richParts: boolean
  readonly penalties: boolean
  /** Each query of its web search is billed; for older models a search was billed once per call. */
  readonly billsQueries: boolean
  /** Supports schemas only in the OpenAPI form, and not the mode VALIDATED. */
  readonly isOld: boolean
  /** The model's output modalities, if they are not only text. */
  readonly answersWith: readonly string[] | undefined
}

export type Thinking =
  | { readonly by: 'none' }
  /** A budget in tokens. `off` is the budget for no thinking, or the smallest where it cannot be turned off. */
  | { readonly by: 'budget'; readonly off: number; readonly min: number; readonly max: number }
  | { readonly by: 'level'; readonly levels: readonly Level[] }
  /** The model decides; thinking cannot be configured. */
  | { readonly by: 'model' }

export type Level = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH'

export function geminiModel(name: string): GeminiModel {
  const plain = name.slice(name.lastIndexOf('/') + 1).toLowerCase()
  const [, facts] = rows.find(([pattern]) => pattern.test(plain)) ?? []
  return { outputTokensMax: knownModelLimits(plain)?.outputTokensMax ?? outputTokensUsual, ...newest, ...facts }
}

const outputTokensUsual = 65_536
const allLevels: Thinking = { by: 'level', levels: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'] }
const none: Thinking = { by: 'none' }

const newest: Omit<GeminiModel, 'outputTokensMax'> = {
  thinking: allLevels,
  needsSignatures: true,
  jsonWithTools: true,
  richParts: true,
  penalties: false,
  billsQueries: true,
  isOld: false,
  answersWith: undefined,
}

const generation2 = { needsSignatures: false, jsonWithTools: false, richParts: false, billsQueries: false } as const
const generation1 = { ...generation2, isOld: true, penalties: true, thinking: none } as const

const rows: readonly (readonly [RegExp, Partial<GeminiModel>])[] = [
  [/^gemini-(1|pro$|pro-vision|exp-|ultra)/, generation1],
  [/^(learnlm|gemma|text-|aqa)/, { ...generation1, penalties: false, outputTokensMax: 8192 }],
  // Image models: those that think decide how much, and refuse a level.
  [/^gemini-2\.0-.*image/, { ...generation2, thinking: none, answersWith: ['TEXT', 'IMAGE'] }],
  [/^gemini-2\.5-.*image/, { ...generation2, thinking: none, answersWith: ['TEXT', 'IMAGE'] }],
  [/image/, { thinking: { by: 'model' }, answersWith: ['TEXT', 'IMAGE'] }],
  [/-tts/, { ...generation2, thinking: none, answersWith: ['AUDIO'] }],
  [/^gemini-2\.0-flash-thinking/, { ...generation2, thinking: none }],
  [/^gemini-2\.0/, { ...generation2, thinking: none, penalties: true }],
  [/^gemini-2\.5-flash-lite/, { ...generation2, thinking: { by: 'budget', off: 0, min: 512, max: 24_576 } }],
  [/^gemini-2\.5-flash/, { ...generation2, thinking: { by: 'budget', off: 0, min: 1, max: 24_576 } }],
  [/^gemini-2\.5/, { ...generation2, thinking: { by: 'budget', off: 128, min: 128, max: 32_768 } }],
  [/^gemini-3-pro/, { thinking: { by: 'level', levels: ['LOW', 'HIGH'] } }],
  [/^gemini-[3-9].*pro/, { thinking: { by: 'level', levels: ['LOW', 'MEDIUM', 'HIGH'] } }],
]
