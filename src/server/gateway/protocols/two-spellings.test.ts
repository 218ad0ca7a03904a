import { describe, expect, it } from 'vitest'
import { AppError } from '../../base/lib/failure.ts'
import type { CallerFormat } from './format.ts'
import { formats } from './index.ts'
import type { JsonObject } from './wire-format.ts'

/** One limit under two names in one body: the vendor may apply another value than the one priced here. */

function refusal(format: CallerFormat, body: JsonObject): readonly string[] | undefined {
  try {
    formats[format].wire.readRequest(body, format.startsWith('gemini.') ? { model: 'm' } : undefined)
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [error.code, error.text('en')]
  }
}

const contents = [{ role: 'user', parts: [{ text: 'one' }] }]
const messages = [{ role: 'user', content: 'one' }]
const generate = (more: JsonObject): [CallerFormat, JsonObject] => ['gemini.generate', { contents, ...more }]
const chat = (more: JsonObject): [CallerFormat, JsonObject] => ['openai.chat', { model: 'm', messages, ...more }]

const refused: readonly [string, string, ...[CallerFormat, JsonObject]][] = [
  ['generationConfig', 'generation_config', ...generate({ generationConfig: { maxOutputTokens: 1 }, generation_config: {} })],
  ['maxOutputTokens', 'max_output_tokens', ...generate({ generationConfig: { maxOutputTokens: 1, max_output_tokens: 9000 } })],
  ['maxOutputTokens', 'max_output_tokens', ...generate({ generation_config: { max_output_tokens: 9, maxOutputTokens: 9 } })],
  ['candidateCount', 'candidate_count', ...generate({ generationConfig: { candidateCount: 1, candidate_count: 8 } })],
  ['thinkingConfig', 'thinking_config', ...generate({ generationConfig: { thinkingConfig: {}, thinking_config: {} } })],
  [
    'thinkingBudget',
    'thinking_budget',
    ...generate({ generationConfig: { thinkingConfig: { thinkingBudget: 0, thinking_budget: 9000 } } }),
  ],
  ['cachedContent', 'cached_content', ...generate({ cachedContent: 'a', cached_content: 'b' })],
  ['systemInstruction', 'system_instruction', ...generate({ systemInstruction: 'a', system_instruction: 'b' })],
  ['inlineData', 'inline_data', ...generate({ contents: [{ parts: [{ inlineData: {}, inline_data: {} }] }] })],
  [
    'sampleCount',
    'sample_count',
    'gemini.predict',
    { instances: [{ prompt: 'a' }], parameters: { sampleCount: 1, sample_count: 4 } },
  ],
  ['taskType', 'task_type', 'gemini.embed', { content: contents[0], taskType: 'a', task_type: 'b' }],
  [
    'maxOutputTokens',
    'max_output_tokens',
    'gemini.count_tokens',
    { generateContentRequest: { contents, generationConfig: { maxOutputTokens: 1, max_output_tokens: 2 } } },
  ],
  ['max_tokens', 'max_completion_tokens', ...chat({ max_tokens: 1, max_completion_tokens: 9000 })],
  [
    'max_tokens',
    'max_completion_tokens',
    'openai.completions',
    { model: 'm', prompt: 'a', max_tokens: 9, max_completion_tokens: 1 },
  ],
  ['thinking.budget_tokens', 'thinking_budget', ...chat({ thinking: { budget_tokens: 1024 }, thinking_budget: 9000 })],
  ['thinking_budget', 'reasoning.max_tokens', ...chat({ thinking_budget: 1, reasoning: { max_tokens: 2 } })],
  [
    'thinkingBudget',
    'thinking_budget',
    ...chat({ extra_body: { google: { thinking_config: { thinking_budget: 1, thinkingBudget: 2 } } } }),
  ],
]

describe('two names of one limit in one body', () => {
  it.each(refused)('%s and %s are refused by name', (one, other, format, body) => {
    const [code, text = ''] = refusal(format, body) ?? []
    expect(code).toBe('field_invalid')
    expect(text).toContain(one)
    expect(text).toContain(other)
  })

  it('are accepted if they agree in Chat, if one is unset, and if the caller lists the members', () => {
    const taken: readonly [CallerFormat, JsonObject][] = [
      chat({ max_tokens: 7, max_completion_tokens: 7 }),
      chat({ max_tokens: null, max_completion_tokens: 7 }),
      chat({ thinking: { budget_tokens: 7 }, thinking_budget: 7 }),
      generate({ generationConfig: { maxOutputTokens: 1, max_output_tokens: null }, generation_config: null }),
      generate({ contents: [{ parts: [{ functionCall: { name: 'f', args: { maxSize: 1, max_size: 2 } } }] }] }),
      generate({ tools: [{ functionDeclarations: [{ name: 'f', parameters: { properties: { maxSize: {}, max_size: {} } } }] }] }),
      generate({ generationConfig: { responseSchema: { properties: { maxSize: {}, max_size: {} } } } }),
    ]
    for (const [format, body] of taken) expect([body, refusal(format, body)]).toEqual([body, undefined])
  })
})
