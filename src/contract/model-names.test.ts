import { describe, expect, it } from 'vitest'
import { isSameModel, namesNoModel } from './model-names.ts'

describe('the name of a model in a reply', () => {
  it.each([
    ['gpt-4o', 'gpt-4o-2024-08-06'],
    ['gpt-4', 'gpt-4-0613'],
    ['gpt-4-turbo-preview', 'gpt-4-0125-preview'],
    ['gpt-35-turbo', 'gpt-3.5-turbo-0125'],
    ['text-embedding-ada-002', 'text-embedding-ada-002-v2'],
    ['grok-4', 'grok-4-0709'],
    ['mistral-large-latest', 'mistral-large-2411'],
    ['claude-3-5-sonnet-latest', 'claude-3-5-sonnet-20241022'],
    ['claude-sonnet-4-0', 'claude-sonnet-4-20250514'],
    ['anthropic/claude-opus-4.5', 'claude-opus-4-5-20251101'],
    ['claude-sonnet-4@20250514', 'claude-sonnet-4-20250514'],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5-20250929'],
    ['anthropic.claude-haiku-4-5-20251001-v1:0', 'claude-haiku-4-5'],
    ['models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['publishers/google/models/gemini-2.0-flash', 'gemini-2.0-flash-001'],
    ['gemini-2.5-flash-preview', 'gemini-2.5-flash-preview-09-2025'],
    ['gemini-flash-latest', 'gemini-2.5-flash-preview-09-2025'],
    ['gemini-flash-latest', 'gemini-3.8-flash'],
    ['kimi-latest', 'kimi-k2-0905'],
    ['doubao-seed-1-6', 'doubao-seed-1-6-250615'],
    ['deepseek/deepseek-chat:free', 'deepseek-chat'],
    ['llama3', 'llama3:latest'],
    ['accounts/fireworks/models/qwen3-235b', 'qwen3-235b'],
  ])('%s is met by %s', (sent, answered) => {
    expect(isSameModel(sent, answered)).toBe(true)
  })

  it.each([
    ['gemini-2.5-pro', 'gemini-3.8-flash'],
    ['gemini-2.5-flash', 'gemini-3.5-flash-lite'],
    ['gpt-4o', 'gpt-4o-mini'],
    ['gpt-4o-2024-05-13', 'gpt-4o-2024-08-06'],
    ['gpt-4o', 'gpt-4.1'],
    ['claude-opus-4-5', 'claude-opus-4-1'],
    ['claude-sonnet-4-5', 'claude-haiku-4-5'],
    ['text-embedding-004', 'text-embedding-005'],
    ['deepseek-v3', 'deepseek-v2'],
    ['llama3:70b', 'llama3:8b'],
    ['gemini-flash-latest', 'gemini-2.5-flash-lite'],
    ['gemini-flash-latest', 'gemini-2.5-pro'],
    ['gemini-2.5-pro', 'gemini-2.5-pro-lite'],
  ])('%s is not met by %s', (sent, answered) => {
    expect(isSameModel(sent, answered)).toBe(false)
  })

  it('cannot be compared with the name of an endpoint, an assistant or a router', () => {
    for (const name of ['ep-20250101-abc', 'openrouter/auto', 'model-router', 'bot-2025', 'app-x'])
      expect(namesNoModel(name), name).toBe(true)
    for (const name of ['gpt-4o', 'automata-1', 'us.anthropic.claude-3-haiku-20240307-v1:0', 'epsilon'])
      expect(namesNoModel(name), name).toBe(false)
  })
})
