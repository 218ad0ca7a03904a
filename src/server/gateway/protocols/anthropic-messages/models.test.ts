import { describe, expect, it } from 'vitest'
import { isClaude, rulesOf } from './models.ts'

describe('the rules of a model', () => {
  it.each([
    ['claude-sonnet-5-5', 128_000, 'adaptive', 'between-tools', 'refused', 'never'],
    ['claude-opus-5-5', 128_000, 'adaptive', 'low-effort', 'refused', 'never'],
    ['claude-haiku-5-5', 128_000, 'adaptive', 'disabled', 'refused', 'thinking-off'],
    ['claude-opus-5', 128_000, 'adaptive', 'disabled', 'refused', 'unless-budget'],
    ['claude-sonnet-5-20260801', 128_000, 'adaptive', 'disabled', 'refused', 'unless-budget'],
    ['claude-fable-5', 128_000, 'adaptive', 'low-effort', 'refused', 'unless-budget'],
    ['claude-fable-5-2', 128_000, 'adaptive', 'low-effort', 'refused', 'never'],
    ['claude-opus-4-8', 128_000, 'adaptive', 'absent', 'refused', 'unless-budget'],
    ['claude-opus-4-6', 128_000, 'either', 'absent', 'one', 'unless-budget'],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 64_000, 'budget', 'absent', 'one', 'unless-budget'],
    ['anthropic/claude-sonnet-4.5', 64_000, 'budget', 'absent', 'one', 'unless-budget'],
    ['claude-haiku-4-5@20251001', 64_000, 'budget', 'absent', 'one', 'unless-budget'],
    ['claude-opus-4-1-20250805', 32_000, 'budget', 'absent', 'one', 'unless-budget'],
    ['claude-opus-4-20250514', 32_000, 'budget', 'absent', 'free', 'unless-budget'],
    ['claude-sonnet-4-0', 64_000, 'budget', 'absent', 'free', 'unless-budget'],
    ['claude-3-7-sonnet-20250219', 64_000, 'budget', 'absent', 'free', 'unless-budget'],
    ['anthropic.claude-3-5-sonnet-20241022-v2:0', 8192, 'none', 'absent', 'free', 'unless-budget'],
    ['claude-3-haiku-20240307', 4096, 'none', 'absent', 'free', 'unless-budget'],
    ['claude-nova-7', undefined, 'adaptive', 'low-effort', 'refused', 'never'],
    ['glm-4.6', undefined, 'budget', 'disabled', 'free', 'unless-budget'],
  ])('are known for %s', (model, outputTokensMax, thinking, thinkingOff, sampling, forcedTool) => {
    expect(rulesOf(model)).toMatchObject({ outputTokensMax, thinking, thinkingOff, sampling, forcedTool })
  })

  it('differ in prefill, instructions in the middle and JSON', () => {
    const of = (model: string) => [rulesOf(model).takesPrefill, rulesOf(model).takesSystemTurns, rulesOf(model).jsonSchema]
    expect(of('claude-haiku-4-5')).toEqual([true, false, 'native'])
    expect(of('claude-opus-4-1')).toEqual([true, false, 'tool'])
    expect(of('claude-opus-4-7')).toEqual([false, false, 'native'])
    expect(of('claude-opus-4-8')).toEqual([false, true, 'native'])
    expect(of('claude-sonnet-5')).toEqual([false, true, 'native'])
  })

  it('tell the models that Bedrock serves under dated versions', () => {
    const models = ['claude-opus-4-6', 'claude-sonnet-4-6', 'claude-haiku-4-5', 'claude-opus-4-7', 'claude-haiku-5-5']
    expect(models.map((model) => rulesOf(model).takesDatedVersion)).toEqual([false, false, false, true, true])
  })

  it('are those of Claude only for Claude', () => {
    expect([isClaude('us.anthropic.claude-3-haiku'), isClaude('kimi-k2-thinking')]).toEqual([true, false])
  })
})
