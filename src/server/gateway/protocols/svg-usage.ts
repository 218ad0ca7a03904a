import { areCounts, countAt, type JsonObject, objectAt } from './wire-format.ts'

/**
 * Tokens of the SVG drawing model in these images, replies or items, which no other count includes. They are billed as those of the model
 * that was asked. Source: types of the official SDK 7.57, read 2026-11.
 */
export function readSvgUsage(holders: readonly JsonObject[]): { input: number; output: number; reasoning: number } {
  const sums = { input: 0, output: 0, reasoning: 0 }
  for (const holder of holders) {
    const usage = objectAt(holder, 'svg_usage')
    if (!usage || !areCounts(usage, ['input_tokens', 'output_tokens'])) continue
    const output = countAt(usage, 'output_tokens')
    sums.input += countAt(usage, 'input_tokens')
    sums.output += output
    sums.reasoning += Math.min(output, countAt(usage, 'reasoning_tokens'))
  }
  return sums
}
