import type { Effort, Reasoning } from '../dialogue.ts'
import type { JsonObject } from '../wire-format.ts'
import type { GeminiModel, Level, Thinking } from './models.ts'

/**
 * `thinkingConfig` for the requested reasoning: a budget for the models of 2.5, a level for later ones. `isLost` means that the model
 * does not support it. Source: protocols notes 3.7.
 */
export function writeThinking(
  reasoning: Reasoning | undefined,
  { thinking }: GeminiModel,
  outputTokensMax: number | undefined,
): { config: JsonObject | undefined; isLost: boolean } {
  if (!reasoning) return { config: undefined, isLost: false }
  const { mode, show } = reasoning
  if (thinking.by === 'none') return { config: undefined, isLost: mode !== 'off' && mode !== 'auto' }

  const amount =
    thinking.by === 'budget'
      ? { thinkingBudget: budgetFor(mode, thinking, outputTokensMax) }
      : thinking.by === 'level'
        ? levelFor(mode, thinking.levels)
        : {}
  return {
    config: { ...amount, ...(mode === 'off' || show === 'none' ? {} : { includeThoughts: true }) },
    isLost: thinking.by === 'model' && mode !== 'auto',
  }
}

/** The reasoning requested by a Gemini caller. Without a setting the model decides and thinking is hidden. */
export function readThinking(level: string, budget: unknown, includesThoughts: unknown): Reasoning {
  const show = includesThoughts === true ? 'summary' : 'none'
  const effort = levelEfforts.get(level.toUpperCase())
  if (effort) return { mode: { effort }, show }
  if (typeof budget !== 'number' || budget < 0) return { mode: 'auto', show }
  return { mode: budget === 0 ? 'off' : { budgetTokens: Math.floor(budget) }, show }
}

const levelEfforts: ReadonlyMap<string, Effort> = new Map([
  ['MINIMAL', 'minimal'],
  ['LOW', 'low'],
  ['MEDIUM', 'medium'],
  ['HIGH', 'high'],
])

/** Thinking counts as output, so the budget is a share of the reply's limit. */
function budgetFor(
  mode: Reasoning['mode'],
  { off, min, max }: Extract<Thinking, { by: 'budget' }>,
  outputTokensMax: number | undefined,
): number {
  if (mode === 'off') return off
  if (mode === 'auto') return -1
  if ('budgetTokens' in mode) return Math.min(Math.max(mode.budgetTokens, min), max)
  const room = outputTokensMax === undefined ? max : Math.min(max, outputTokensMax * shareOfOutput)
  const wanted = mode.effort === 'minimal' ? Math.min(1024, room) : room * shares[mode.effort]
  return Math.max(Math.floor(wanted), min)
}

/** Leaves part of the limit to the answer. */
const shareOfOutput = 0.9

const shares: Readonly<Record<Exclude<Effort, 'minimal'>, number>> = { low: 0.1, medium: 0.3, high: 0.6, xhigh: 1, max: 1 }

function levelFor(mode: Reasoning['mode'], levels: readonly Level[]): { thinkingLevel?: Level } {
  if (mode === 'auto') return {}
  const wanted =
    mode === 'off' ? 0 : order.indexOf('budgetTokens' in mode ? levelOfBudget(mode.budgetTokens) : levelOf[mode.effort])
  // A missing level becomes the next higher one.
  const level = levels.find((candidate) => order.indexOf(candidate) >= wanted) ?? levels.at(-1)
  return level ? { thinkingLevel: level } : {}
}

const order: readonly Level[] = ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']

const levelOf: Readonly<Record<Effort, Level>> = {
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
}

function levelOfBudget(tokens: number): Level {
  if (tokens <= 1024) return 'MINIMAL'
  if (tokens <= 4096) return 'LOW'
  return tokens <= 16_384 ? 'MEDIUM' : 'HIGH'
}
