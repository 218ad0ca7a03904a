import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { scene, streamed, vendor } from './paid-stage.ts'

const prompt = 'word '.repeat(3000)
const anthropic = 14
const gemini = 24

const response = (usage: object) => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'gpt-5' },
  output: [
    {
      ...{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant' },
      content: [{ type: 'output_text', text: 'ok', annotations: [] }],
    },
  ],
  usage,
})
const written = {
  input_tokens: 1000,
  input_tokens_details: {
    ...{ cached_tokens: 100, cache_write_tokens: 800 },
    cache_write_tokens_details: { ttl_30m_tokens: 300, ttl_12h_tokens: 500 },
  },
  output_tokens: 11,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 1011,
}
const asked = { model: 'gpt-5', input: prompt, prompt_cache_options: { ttl: '12h' } }

anyDatabase('usage that vendors price separately', (_fresh, kind) => {
  it('is charged for cache writes of 30 minutes and of 12 hours by their own factors, whole and streamed', async () => {
    let stream = false
    const { url } = await vendor(() =>
      stream
        ? streamed([{ type: 'response.completed', sequence_number: 0, response: response(written) }], '', true)
        : { type: 'application/json', text: JSON.stringify(response(written)) },
    )
    const { ask, set, last, server } = await scene(kind, url)
    const row = {
      ...{ input_tokens: 100, cache_tokens: 100, cache_creation_tokens: 0, create_cache_ratio: 1.25 },
      ...{ cache_creation_30m_tokens: 300, cache_creation_12h_tokens: 500 },
    }
    expect((await ask(asked, '/v1/responses')).status).toBe(200)
    expect(await last()).toMatchObject({
      quota: 100 + 100 + 300 * 1.25 + 500 * 2 + 11,
      tokens: [1000, 11],
      other: { ...row, cache_creation_factors: { '30m': 1, '12h': 1.6 } },
    })

    await set('CacheWriteFactor', { '30m': 1.2, '12h/gpt-*': 2.4, '12h': 9 })
    stream = true
    expect((await ask({ ...asked, stream: true }, '/v1/responses')).status).toBe(200)
    expect(await last()).toMatchObject({
      quota: 100 + 100 + 300 * 1.5 + 500 * 3 + 11,
      other: { ...row, cache_creation_factors: { '30m': 1.2, '12h': 2.4 } },
    })
    await requireBalancedBooks(server)
  })

  it('is reported with its lifetimes to callers of other dialects', async () => {
    const { url } = await vendor(response(written))
    const { ask, last } = await scene(kind, url, { model_mapping: '{"gpt-5":"gpt-5-codex"}' })
    const messages = [{ role: 'user', content: prompt }]
    const told = JSON.parse((await ask({ model: 'gpt-5', max_tokens: 50, messages }, '/v1/messages')).text)
    expect(told.usage).toMatchObject({
      ...{ input_tokens: 100, cache_read_input_tokens: 100, cache_creation_input_tokens: 800 },
      cache_creation: { ephemeral_30m_input_tokens: 300, ephemeral_12h_input_tokens: 500 },
    })
    expect((await last()).quota).toBe(100 + 100 + 300 * 1.25 + 500 * 2 + 11)
  })

  it.each([
    ['the longest that a breakpoint names', { prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }, '12h', 2],
    ['an hour where a mark names that', { cache_control: { type: 'ephemeral', ttl: '1h' } }, '1h', 2],
    ['five minutes where none is named', { cache_control: { type: 'ephemeral' } }, undefined, 1.25],
  ] as const)('is charged for cache writes of Chat, which reports no lifetimes, as %s', async (_name, mark, lifetime, ratio) => {
    const { url } = await vendor({
      ...{ id: 'c', object: 'chat.completion', created: 1, model: 'gpt-5' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
      usage: {
        ...{ prompt_tokens: 1000, completion_tokens: 11, total_tokens: 1011 },
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 800 },
      },
    })
    const { ask, last } = await scene(kind, url)
    const content = [{ type: 'text', text: prompt, ...mark }]
    expect((await ask({ model: 'gpt-5', messages: [{ role: 'user', content }] })).status).toBe(200)
    expect(await last()).toMatchObject({
      quota: 200 + 800 * ratio + 11,
      other: lifetime ? { cache_creation_tokens: 0, [`cache_creation_${lifetime}_tokens`]: 800 } : { cache_creation_tokens: 800 },
    })
  })

  it('is charged for every lifetime that a host of Messages reports', async () => {
    const usage = {
      ...{ input_tokens: 100, cache_read_input_tokens: 0, cache_creation_input_tokens: 1000, output_tokens: 11 },
      cache_creation: {
        ...{ ephemeral_5m_input_tokens: 100, ephemeral_30m_input_tokens: 200 },
        ...{ ephemeral_1h_input_tokens: 300, ephemeral_12h_input_tokens: 400 },
      },
    }
    const content = [{ type: 'text', text: 'ok' }]
    const { url } = await vendor({
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-opus-4-6', content, stop_reason: 'end_turn', usage },
    })
    const { ask, set, last } = await scene(kind, url, { type: anthropic })
    await set('CacheWriteFactor', { '30m': 1.1, '1h': 1.6, '12h': 2 })
    const system = [{ type: 'text', text: prompt, cache_control: { type: 'ephemeral', ttl: '1h' } }]
    const body = { model: 'claude-opus-4-6', max_tokens: 50, system, messages: [{ role: 'user', content: 'hi' }] }
    expect((await ask(body, '/v1/messages')).status).toBe(200)
    expect(await last()).toMatchObject({
      quota: 100 + 100 * 1.25 + 200 * 1.375 + 300 * 2 + 400 * 2.5 + 11,
      tokens: [1100, 11],
    })
  })

  it('is charged for cached audio, audio that tools read, and video by their own ratios', async () => {
    const usageMetadata = {
      ...{ promptTokenCount: 1000, cachedContentTokenCount: 400, toolUsePromptTokenCount: 90 },
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 400 },
        { modality: 'AUDIO', tokenCount: 600 },
      ],
      cacheTokensDetails: [
        { modality: 'TEXT', tokenCount: 100 },
        { modality: 'AUDIO', tokenCount: 300 },
      ],
      toolUsePromptTokensDetails: [{ modality: 'AUDIO', tokenCount: 90 }],
      candidatesTokenCount: 50,
      candidatesTokensDetails: [{ modality: 'VIDEO', tokenCount: 40 }],
      totalTokenCount: 1140,
    }
    const { url } = await vendor({
      candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
      ...{ usageMetadata, modelVersion: 'gemini-2.5-pro' },
    })
    const { ask, set, last, server } = await scene(kind, url, { type: gemini })
    await set('CacheRatio', { 'gemini-2.5-pro': 0.1 })
    await set('AudioRatio', { 'gemini-2.5-pro': 3 })
    const path = '/v1beta/models/gemini-2.5-pro:generateContent'
    const body = { contents: [{ parts: [{ text: prompt }] }] }
    expect((await ask(body, path)).status).toBe(200)
    // Without ratios of their own, cached audio is to audio as cached text is to text, and video costs as much as text.
    expect((await last()).quota).toBe(Math.ceil(300 + 100 * 0.1 + 300 * 0.3 + (300 + 90) * 3 + 50))

    await set('AudioCacheRatio', { 'gemini-2.5-pro': 0.5 })
    await set('VideoCompletionRatio', { 'gemini-2.5-pro': 12 })
    expect((await ask(body, path)).status).toBe(200)
    expect(await last()).toMatchObject({
      quota: 300 + 100 * 0.1 + 300 * 0.5 + (300 + 90) * 3 + 10 + 40 * 12,
      tokens: [1090, 50],
      other: {
        ...{ input_tokens: 300, cache_tokens: 100, cached_audio: 300, audio_cache_ratio: 0.5, audio_input: 390, audio_ratio: 3 },
        ...{ output_tokens: 10, video_output: 40, video_completion_ratio: 12 },
      },
    })
    await requireBalancedBooks(server)
  })
})
