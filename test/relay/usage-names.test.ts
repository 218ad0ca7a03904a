import { expect, it } from 'vitest'
import { scene, streamed, vendor } from './paid-stage.ts'

/**
 * Usage as hosts report it, with what it costs: an input token 1 unit, a cached one 0.1, a cache write of five minutes 1.25 and of an hour
 * 2, an output token 4. The readers and their sources are in `src/server/gateway/protocols/usage-names.ts` and `place-totals.test.ts`.
 */
const cases: readonly (readonly [host: string, usage: object, quota: number, unexplained: number | undefined])[] = [
  [
    'OpenAI',
    { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, prompt_tokens_details: { cached_tokens: 60 } },
    40 + 6 + 80,
    undefined,
  ],
  [
    'DeepSeek',
    { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, prompt_cache_hit_tokens: 60 },
    40 + 6 + 80,
    undefined,
  ],
  ['Mistral', { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, num_cached_tokens: 60 }, 40 + 6 + 80, undefined],
  [
    'Alibaba',
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 80, cache_type: 'ephemeral' },
    },
    20 + 100 + 80,
    undefined,
  ],
  [
    'LiteLLM',
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      cache_read_input_tokens: 60,
      prompt_tokens_details: {
        cached_tokens: 60,
        cache_creation_tokens: 20,
        cache_creation_token_details: { ephemeral_1h_input_tokens: 20 },
      },
    },
    20 + 6 + 40 + 80,
    undefined,
  ],
  [
    'Databricks',
    { prompt_tokens: 40, completion_tokens: 20, total_tokens: 140, cache_read_input_tokens: 60, cache_creation_input_tokens: 20 },
    40 + 6 + 25 + 80,
    undefined,
  ],
  [
    'new-api',
    {
      prompt_tokens: 40,
      completion_tokens: 20,
      total_tokens: 140,
      claude_cache_creation_5_m_tokens: 20,
      prompt_tokens_details: { cached_tokens: 60, cached_creation_tokens: 20 },
    },
    40 + 6 + 25 + 80,
    undefined,
  ],
  [
    'xAI',
    { prompt_tokens: 100, completion_tokens: 5, total_tokens: 120, completion_tokens_details: { reasoning_tokens: 15 } },
    100 + 80,
    undefined,
  ],
  ['Gemini with thinking only in the total', { prompt_tokens: 100, completion_tokens: 5, total_tokens: 120 }, 100 + 80, 15],
  ['a host whose total is too low', { prompt_tokens: 100, completion_tokens: 20, total_tokens: 110 }, 100 + 80, -10],
]

it('names and totals of every host are charged alike, whole and streamed, native and translated, and marked where they do not add up', async () => {
  let usage: object = {}
  let isStreamed = false
  const choice = { index: 0, finish_reason: 'stop' }
  const { url } = await vendor(() =>
    isStreamed
      ? streamed([{ choices: [{ ...choice, delta: { content: 'hi' } }] }, { choices: [], usage }], 'data: [DONE]\n\n')
      : {
          type: 'application/json',
          text: JSON.stringify({ choices: [{ ...choice, message: { role: 'assistant', content: 'hi' } }], usage }),
        },
  )
  const { ask, set, last } = await scene('sqlite', url)
  await set('CompletionRatio', { 'gpt-x': 4 })
  await set('CacheRatio', { 'gpt-x': 0.1 })
  await set('CreateCacheRatio', { 'gpt-x': 1.25 })
  const body = { model: 'gpt-x', max_tokens: 100, messages: [{ role: 'user', content: 'hi '.repeat(50) }] }

  for (const [host, reported, quota, unexplained] of cases)
    for (const stream of [false, true])
      for (const path of ['/v1/chat/completions', '/v1/messages']) {
        usage = reported
        isStreamed = stream
        expect((await ask({ ...body, stream }, path)).status).toBe(200)
        const row = await last()
        expect([host, path, stream, row.quota, row.other.usage_unexplained]).toEqual([host, path, stream, quota, unexplained])
      }
})
