import type { Effort, Reasoning } from './dialogue.ts'

/** The amount of reasoning for vendors with three levels. The thresholds of budgets are those of protocols notes 3.7. */
export function levelOf(mode: Exclude<Reasoning['mode'], 'off' | 'auto'>): 'low' | 'medium' | 'high' {
  if ('effort' in mode) return levels[mode.effort]
  if (mode.budgetTokens <= 4096) return 'low'
  return mode.budgetTokens <= 16_384 ? 'medium' : 'high'
}

const levels: Readonly<Record<Effort, 'low' | 'medium' | 'high'>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

/** The thinking budget in tokens for an effort, for vendors that accept only a budget. Source: protocols notes 3.7. */
export function budgetOf(mode: Exclude<Reasoning['mode'], 'off' | 'auto'>): number {
  return 'budgetTokens' in mode ? mode.budgetTokens : budgets[mode.effort]
}

const budgets: Readonly<Record<Effort, number>> = {
  minimal: 1024,
  low: 4096,
  medium: 16_384,
  high: 32_768,
  xhigh: 49_152,
  max: 65_536,
}
