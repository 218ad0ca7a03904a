import { describe, expect, it } from 'vitest'
import type { Format } from '../protocols/format.ts'
import { providerById } from './index.ts'
import { withoutCallPath } from './pasted-address.ts'

const provider = (type: number) => providerById(type) ?? expect.unreachable(`no provider ${type}`)

/** The address of a call through a channel with a pasted base URL. */
function called(type: number, pasted: string, format: Format, model: string): string {
  const declared = provider(type)
  const channel = { id: 1, type, key: 'k', baseUrl: withoutCallPath(declared, pasted), organization: '', other: '', setting: {} }
  const own = declared.forChannel?.(channel) ?? declared
  return own.url(channel, format, model, false)
}

describe('a base URL that was pasted with the path of a call', () => {
  it.each<[number, string, Format, string]>([
    [1, 'https://host.example/v1/chat/completions', 'openai.chat', 'https://host.example/v1/chat/completions'],
    [1, 'https://host.example/chat/completions', 'openai.chat', 'https://host.example/v1/chat/completions'],
    [1, 'https://host.example/openai/v1/chat/completions', 'openai.embeddings', 'https://host.example/openai/v1/embeddings'],
    [1, 'https://host.example/api/v3/chat/completions', 'openai.chat', 'https://host.example/api/v3/chat/completions'],
    [1, 'https://host.example/v1/responses', 'openai.chat', 'https://host.example/v1/chat/completions'],
    [1, 'https://host.example/v1/completions', 'openai.completions', 'https://host.example/v1/completions'],
    [1, 'https://host.example/v1/embeddings', 'openai.embeddings', 'https://host.example/v1/embeddings'],
    [1, 'https://host.example/v1/images/generations', 'openai.images', 'https://host.example/v1/images/generations'],
    [1, 'https://host.example/v1/audio/speech', 'openai.speech', 'https://host.example/v1/audio/speech'],
    [1, 'https://host.example/v1/rerank', 'rerank', 'https://host.example/v1/rerank'],
    [1, 'https://host.example/v1/models', 'openai.chat', 'https://host.example/v1/chat/completions'],
    [14, 'https://host.example/v1/messages', 'anthropic.messages', 'https://host.example/v1/messages'],
    [14, 'https://host.example/anthropic/v1/messages', 'anthropic.messages', 'https://host.example/anthropic/v1/messages'],
    [
      17,
      'https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions',
      'openai.chat',
      'https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions',
    ],
    [
      26,
      'https://open.bigmodel.cn/api/paas/v4/chat/completions',
      'openai.chat',
      'https://open.bigmodel.cn/api/paas/v4/chat/completions',
    ],
    [43, 'https://api.deepseek.com/anthropic/v1/messages', 'openai.chat', 'https://api.deepseek.com/v1/chat/completions'],
    [
      45,
      'https://ark.cn-beijing.volces.com/api/v3/chat/completions',
      'openai.chat',
      'https://ark.cn-beijing.volces.com/api/v3/chat/completions',
    ],
    [46, 'https://qianfan.baidubce.com/v2/chat/completions', 'openai.chat', 'https://qianfan.baidubce.com/v2/chat/completions'],
    [34, 'https://api.cohere.com/v2/chat', 'cohere.chat', 'https://api.cohere.com/v2/chat'],
    [
      24,
      'https://g.example/v1beta/models/gemini-3-pro:generateContent',
      'gemini.generate',
      'https://g.example/v1beta/models/m:generateContent',
    ],
    [24, 'https://g.example/v1beta/models', 'gemini.generate', 'https://g.example/v1beta/models/m:generateContent'],
    [
      3,
      'https://r.openai.azure.com/openai/v1/chat/completions',
      'openai.chat',
      'https://r.openai.azure.com/openai/v1/chat/completions',
    ],
    [
      3,
      'https://r.openai.azure.com/openai/deployments/gpt/chat/completions',
      'openai.chat',
      'https://r.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-12-01-preview',
    ],
  ])('[296] of type %i: %s is understood for %s', (type, pasted, format, url) => {
    expect(called(type, pasted, format, 'm')).toBe(url)
  })

  it.each([
    [1, 'https://host.example'],
    [1, 'https://host.example/v1'],
    [1, 'https://host.example/team/models'],
    [8, 'https://host.example/v1/chat/completions'],
    [58, 'https://host.example/v1/messages'],
    [1, ''],
  ])('of type %i stays %s if it has none, or is the whole URL', (type, address) => {
    expect(withoutCallPath(provider(type), address)).toBe(address)
  })
})
