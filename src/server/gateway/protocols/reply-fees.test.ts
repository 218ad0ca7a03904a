import { expect, it } from 'vitest'
import { entriesFor } from '../../../contract/by-model.ts'
import { toolPrices } from '../../../contract/options/extra-prices.ts'
import { chatTools } from './openai-chat/hosted-tools.ts'
import { greatestReplyFees, readReplyFees, replyFees } from './reply-fees.ts'

it('every fee in the table is read from its place in the usage, and has a source', () => {
  for (const { tool, at, source } of replyFees) {
    const usage = at.reduceRight<unknown>((value, member) => ({ [member]: value }), 3) as Record<string, unknown>
    expect([tool, readReplyFees(usage)]).toEqual([tool, tool === 'web_search' ? { searches: 3 } : { toolCalls: { [tool]: 3 } }])
    expect(source).toMatch(/^https:\/\//)
  }
  expect(readReplyFees({ prompt_tokens: 1, completion_tokens: 1, reasoning_tokens: 9 })).toBeUndefined()
  expect(readReplyFees({ search_context_size: 'enormous', num_search_queries: -1 })).toEqual({})
})

it.each([
  ['sonar', {}, 'search_request_low', 0.005],
  ['perplexity/sonar-pro', { search_context_size: 'high' }, 'search_request_high', 0.014],
  ['sonar-reasoning-pro', { search_context_size: 'medium' }, 'search_request_medium', 0.01],
  ['sonar-pro', { search_type: 'pro' }, 'search_request_pro_low', 0.014],
  ['sonar-pro', { search_type: 'auto', search_context_size: 'high' }, 'search_request_pro_high', 0.022],
])('a request to %s with %j holds %s', (model, web_search_options, fee, usd) => {
  expect(greatestReplyFees(model, { web_search_options })).toEqual({ [fee]: 1 })
  expect(entriesFor(toolPrices, model)[fee]).toBe(usd)
  expect(chatTools({ model, web_search_options })).toEqual({})
})

it('deep research holds its pieces, other models nothing', () => {
  const prices = entriesFor(toolPrices, 'sonar-deep-research')
  for (const fee of Object.keys(greatestReplyFees('sonar-deep-research', {}) ?? {})) expect(prices[fee]).toBeGreaterThan(0)
  expect(entriesFor(toolPrices, 'sonar').citation_token).toBeUndefined()
  for (const model of ['gpt-5', 'sonarqube', 'my-sonar']) expect(greatestReplyFees(model, {})).toBeUndefined()
})
