import { describe, expect, it } from 'vitest'
import { adjustForModel, nearestEffort, rulesOf, splitEffort } from './models.ts'

const everything = { max_tokens: 5, temperature: 1, top_p: 1, presence_penalty: 1, logprobs: true, stop: ['a'], messages: [] }

describe("a parameter that OpenAI's models refuse", () => {
  it('is removed from a request, or renamed', () => {
    expect(adjustForModel(everything, 'o3')).toEqual({
      max_tokens: undefined,
      max_completion_tokens: 5,
      temperature: undefined,
      top_p: undefined,
      presence_penalty: undefined,
      logprobs: undefined,
      stop: undefined,
    })
    expect(adjustForModel(everything, 'gpt-5')).not.toHaveProperty('stop')
    expect(adjustForModel({ max_tokens: 5, max_completion_tokens: 7 }, 'o1')).toEqual({ max_tokens: undefined })
  })

  it('may be a value of another vendor, but not an unknown one', () => {
    const body = { reasoning_effort: 'default', service_tier: 'on_demand' }
    expect(adjustForModel(body, 'gpt-5.2')).toEqual({ reasoning_effort: undefined, service_tier: undefined })
    expect(adjustForModel({ service_tier: 'newest' }, 'gpt-5.2')).toEqual({})
    expect(adjustForModel(body, 'llama-4')).toEqual({})
  })

  it('is kept if the model accepts it with reasoning turned off', () => {
    const body = { temperature: 1, logit_bias: {}, reasoning_effort: 'none' }
    expect(adjustForModel(body, 'gpt-5.1')).toEqual({ logit_bias: undefined })
    expect(adjustForModel({ temperature: 1 }, 'gpt-5.1')).toEqual({ temperature: undefined })
    expect(adjustForModel(body, 'gpt-6')).toEqual({ temperature: undefined, logit_bias: undefined })
  })

  it('[113] may be reasoning together with tools, for newer models', () => {
    const tools = [{ type: 'function' }]
    expect(adjustForModel({ tools, reasoning_effort: 'high' }, 'gpt-5.4')).toEqual({ reasoning_effort: 'none' })
    expect(adjustForModel({ tools }, 'gpt-5.5')).toEqual({})
    expect(adjustForModel({ tools }, 'gpt-5.6-mini')).toEqual({ reasoning_effort: 'none' })
    expect(adjustForModel({ functions: tools }, 'gpt-6')).toEqual({ reasoning_effort: 'none' })
    expect(adjustForModel({ tools: [], reasoning_effort: 'high' }, 'gpt-5.6')).toEqual({})
  })

  it('[170] may be the effort, for models that do not reason', () => {
    for (const model of ['gpt-4o', 'gpt-4.1-mini', 'gpt-5-chat-latest', 'chatgpt-4o-latest', 'o1-mini', 'gpt-3.5-turbo']) {
      expect(adjustForModel({ reasoning_effort: 'high' }, model)).toHaveProperty('reasoning_effort', undefined)
    }
  })

  it('may be a service tier that the model is not offered in', () => {
    expect(adjustForModel({ service_tier: 'flex' }, 'gpt-4o')).toEqual({ service_tier: undefined })
    expect(adjustForModel({ service_tier: 'priority' }, 'gpt-4o')).toEqual({})
    expect(adjustForModel({ service_tier: 'flex' }, 'o3')).toEqual({})
    expect(adjustForModel({ service_tier: 'auto' }, 'gpt-3.5-turbo')).toEqual({})
  })

  it('is never removed for unknown models', () => {
    for (const model of ['openchat', 'omni', 'my-gpt-5', 'llama-4', 'gpt-oss-120b'])
      expect(adjustForModel(everything, model)).toEqual({})
  })

  it('is adjusted idempotently', () => {
    for (const model of ['o3-mini-high', 'gpt-5.6', 'gpt-4o', 'gpt-6', 'o1']) {
      const body = { ...everything, tools: [{}], reasoning_effort: 'high', service_tier: 'flex' }
      const once = { ...body, ...adjustForModel(body, model) }
      expect({ ...once, ...adjustForModel(once, model) }).toEqual(once)
    }
  })
})

describe('the name of a model', () => {
  it('may end in an effort', () => {
    expect(splitEffort('o3-mini-high')).toEqual({ model: 'o3-mini', effort: 'high' })
    expect(splitEffort('grok-3-mini-low')).toEqual({ model: 'grok-3-mini', effort: 'low' })
    expect(splitEffort('gpt-image-1-high')).toEqual({ model: 'gpt-image-1-high' })
    expect(adjustForModel({}, 'o3-mini-high')).toEqual({ model: 'o3-mini', reasoning_effort: 'high' })
  })

  it('may follow the name of its vendor', () => expect(rulesOf('openai/gpt-5')).toEqual(rulesOf('gpt-5')))

  it.each([
    ['gpt-5', 'minimal'],
    ['gpt-5-mini', 'minimal'],
    ['gpt-5.1', 'none'],
    ['gpt-5.1-2025-11-13', 'none'],
    ['o4-mini', 'low'],
  ])('%s has the lowest effort %s', (model, lowest) => expect(rulesOf(model).efforts?.[0]).toBe(lowest))

  it('may have a minor version of two digits', () => {
    expect(rulesOf('gpt-5.12').efforts).toContain('max')
    expect(rulesOf('gpt-5.2').efforts).not.toContain('max')
  })
})

describe('the nearest effort', () => {
  it.each([
    ['medium', ['low', 'high', 'max'], 'high'],
    ['xhigh', ['low', 'high'], 'high'],
    ['minimal', ['none', 'low'], 'low'],
    ['none', ['low', 'high'], 'low'],
    ['none', ['none', 'low'], 'none'],
    ['low', [], undefined],
  ] as const)('to %s among %j is %s', (wanted, taken, found) => expect(nearestEffort(wanted, taken)).toBe(found))
})
