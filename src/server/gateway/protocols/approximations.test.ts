import { describe, expect, it } from 'vitest'
import { codecOf, written } from '../../../../test/helpers/codecs.ts'
import { image, tideTool, user } from '../../../../test/helpers/dialogue.ts'
import type { Dialogue } from './dialogue.ts'
import type { Format } from './format.ts'

/** What a format has in a similar form only is written in that form and named in the receipt. */

/** A model of each format that has tools and sees images. */
const models: readonly (readonly [Format, string])[] = [
  ['anthropic.messages', 'claude-sonnet-4-5'],
  ['gemini.generate', 'gemini-2.5-flash'],
  ['bedrock.converse', 'anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['openai.chat', 'gpt-4o'],
  ['openai.responses', 'gpt-4o'],
  ['cohere.chat', 'command-a-vision-07-2025'],
  ['ollama.chat', 'llama3.2-vision'],
  ['dashscope.chat', 'qwen-plus'],
  ['hunyuan.chat', 'hunyuan-turbos-latest'],
  ['spark.chat', 'generalv3.5'],
  ['ernie.chat', 'ERNIE-4.0-8K'],
]

describe('the grammar of a free-text tool', () => {
  const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: begin_patch hunk+' }
  const patch = { ...tideTool, name: 'apply_patch', schema: undefined, custom: { format: grammar } }

  it.each(models)('[284] is named, and told in the description, for %s', (format, model) => {
    const write = (format_: unknown) =>
      written(codecOf(format), { from: 'openai.responses', tools: [{ ...patch, custom: { format: format_ } }] }, { model })
    const { body, lost, customTools } = write(grammar)
    expect(lost).toContain('tools.format')
    expect([...(customTools ?? [])]).toEqual(['apply_patch'])
    expect(JSON.stringify(body)).toContain('start: begin_patch hunk+')
    expect(write({ type: 'text' }).lost).not.toContain('tools.format')
  })

  it('[284] is carried to models that have such tools', () => {
    for (const format of ['openai.chat', 'openai.responses'] as const) {
      const { body, lost } = written(codecOf(format), { from: 'openai.responses', tools: [patch] }, { model: 'gpt-5' })
      expect(JSON.stringify(body.tools)).toContain('"definition":"start: begin_patch hunk+"')
      expect(lost).toEqual([])
    }
  })
})

describe('a number outside of the range of the format', () => {
  const cases: readonly (readonly [Format, string, Dialogue['sampling'], readonly string[]])[] = [
    ['gemini.generate', 'gemini-2.5-flash', { temperature: 100 }, ['temperature']],
    ['gemini.generate', 'gemini-2.5-flash', { topP: 5 }, ['top_p']],
    ['gemini.generate', 'gemini-2.5-flash', { topK: 0 }, ['top_k']],
    ['gemini.generate', 'gemini-2.5-flash', { seed: 2 ** 40 }, ['seed']],
    ['gemini.generate', 'gemini-2.5-flash', { temperature: 2, topP: 1, topK: 1, seed: -7 }, []],
    ['anthropic.messages', 'claude-sonnet-4', { temperature: 1.7 }, ['temperature']],
    ['bedrock.converse', 'amazon.nova-pro-v1:0', { temperature: 1.7 }, ['temperature']],
    ['dashscope.chat', 'qwen-plus', { temperature: 3, topP: 2 }, ['temperature', 'top_p']],
    ['dashscope.chat', 'qwen-plus', { temperature: 2, topP: 1 }, []],
    ['hunyuan.chat', 'hunyuan-turbos-latest', { temperature: 2.5 }, ['temperature']],
    ['spark.chat', 'generalv3.5', { temperature: 1.5, topK: 7 }, ['temperature', 'top_k']],
    ['ernie.chat', 'ERNIE-4.0-8K', { temperature: 1.5 }, ['temperature']],
    ['cohere.chat', 'command-a-03-2025', { topP: 2, topK: 900 }, ['top_k', 'top_p']],
  ]

  it.each(cases)('[285] is named for %s, model %s: %j', (format, model, sampling, names) => {
    expect(written(codecOf(format), { sampling }, { model }).lost).toEqual(names)
  })
})

it.each([
  ['openai.chat', 'qwen-vl-plus', ['detail']],
  ['openai.chat', 'gpt-5.6', []],
  ['openai.responses', 'gpt-5.6', []],
  ['gemini.generate', 'gemini-3.5-flash', ['detail']],
  ['anthropic.messages', 'claude-sonnet-4-5', ['detail']],
] as const)('[285] the detail `original` of an image is named for %s, model %s, unless it is carried', (format, model, names) => {
  const { lost } = written(codecOf(format), { from: 'openai.responses', turns: [user(image({ detail: 'original' }))] }, { model })
  expect(lost).toEqual(names)
})
