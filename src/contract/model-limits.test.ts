import { expect, it } from 'vitest'
import { knownModelLimits, modelLimitsOf } from './model-limits.ts'

it.each([
  ['gpt-6-sol', 1_050_000, 131_072],
  ['gpt-5.6-terra', 1_050_000, 128_000],
  ['openai/gpt-5-mini', 400_000, 128_000],
  ['gpt-5-pro', 1_050_000, 272_000],
  ['gpt-5-chat-latest', 128_000, 16_384],
  ['gpt-4.1-nano', 1_047_576, 32_768],
  ['gpt-4o-mini-2024-07-18', 128_000, 16_384],
  ['gpt-4-turbo-2024-04-09', 128_000, 4096],
  ['gpt-4-0613', 8192, 8192],
  ['gpt-4', 8192, 8192],
  ['gpt-3.5-turbo', 16_385, 4096],
  ['gpt-35-turbo-16k', 16_385, 16_385],
  ['openai.gpt-oss-120b-1:0', 131_072, 131_072],
  ['o4-mini-deep-research', 200_000, 100_000],
  ['claude-opus-5-5', 1_000_000, 128_000],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 1_000_000, 64_000],
  ['anthropic/claude-haiku-4.5', 200_000, 64_000],
  ['claude-opus-4-1-20250805', 200_000, 32_000],
  ['claude-opus-4@20250514', 200_000, 32_000],
  ['claude-3-haiku-20240307', 200_000, 4096],
  ['models/gemini-2.5-flash', 1_048_576, 65_536],
  ['gemini-3.1-pro-preview', 1_048_576, 65_536],
  ['gemini-1.5-pro-002', 2_097_152, 8192],
  ['gemini-2.5-flash-image', 1_048_576, 32_768],
  ['deepseek-ai/DeepSeek-V4-Pro', 1_048_576, 393_216],
  ['deepseek-r1-0528', 163_840, 163_840],
  ['Qwen/Qwen3-235B-A22B-Thinking-2507', 1_048_576, 131_072],
  ['mistral-large-2512', 262_144, 131_072],
  ['grok-4-1-fast-reasoning', 2_000_000, 131_072],
  ['grok-4-0709', 262_144, 131_072],
  ['cohere/command-r-plus-08-2024', 262_144, 32_768],
  ['meta-llama/Llama-4-Scout-17B-16E-Instruct', 10_485_760, 131_072],
  ['meta.llama3-3-70b-instruct-v1:0', 131_072, 131_072],
  ['moonshotai/Kimi-K2-Thinking', 262_144, 262_144],
  ['zai-org/GLM-4.6', 204_800, 131_072],
  ['us.amazon.nova-2-lite-v1:0', 1_000_000, 65_536],
])('%s reads and writes so much', (model, contextTokens, outputTokensMax) => {
  expect(modelLimitsOf(model)).toEqual({ contextTokens, outputTokensMax })
})

it.each(['my-own-model', 'claude-nova-7', 'gpt-4-all-of-it', 'o1x', ''])(
  '%j is an unknown name and has generous limits',
  (model) => {
    expect(knownModelLimits(model)).toBeUndefined()
    expect(modelLimitsOf(model)).toEqual({ contextTokens: 1_000_000, outputTokensMax: 131_072 })
  },
)
