import { describe, expect, it } from 'vitest'
import type { PassableHeader } from '../../../contract/entities/channel.ts'
import { AppError } from '../../base/lib/failure.ts'
import type { Format } from '../protocols/format.ts'
import { builtInModels, checkProviders, providerById, providers } from './index.ts'
import { joinUrl } from './openai-compatible.ts'
import type { Upstream } from './provider.ts'

const chat = 'openai.chat'
const completions = 'openai.completions'
const embeddings = 'openai.embeddings'
const messages = 'anthropic.messages'
const generate = 'gemini.generate'
const responses = 'openai.responses'

/** The URL of a call; undefined if the name is refused. */
function addressOf(upstream: Upstream, format: Format, model: string): URL | undefined {
  try {
    return new URL(provider(upstream.type).url(upstream, format, model, false))
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** One row per URL: type, format, URL, and the relevant settings of the channel or model. */
type Row = [type: number, format: Format, url: string, given?: { base?: string; other?: string; model?: string; key?: string }]

const urls: Row[] = [
  [1, chat, 'https://api.openai.com/v1/chat/completions'],
  [1, completions, 'https://api.openai.com/v1/completions'],
  [1, embeddings, 'https://api.openai.com/v1/embeddings'],
  [1, chat, 'https://relay.example/v1/chat/completions', { base: 'https://relay.example/v1' }],
  [1, chat, 'https://relay.example/openai/v1/chat/completions', { base: 'https://relay.example/openai' }],
  [1, chat, 'https://relay.example/api/v4/chat/completions', { base: 'https://relay.example/api/v4' }],
  [
    1,
    chat,
    'https://gateway.ai.cloudflare.com/v1/a/g/openai/chat/completions',
    { base: 'https://gateway.ai.cloudflare.com/v1/a/g/openai' },
  ],
  [
    3,
    chat,
    'https://r.openai.azure.com/openai/deployments/gpt-35-turbo/chat/completions?api-version=2024-12-01-preview',
    { base: 'https://r.openai.azure.com', model: 'gpt-3.5-turbo' },
  ],
  [
    3,
    embeddings,
    'https://r.openai.azure.com/openai/deployments/a%2Fb/embeddings?api-version=2024-06-01',
    { base: 'https://r.openai.azure.com', model: 'a/b', other: '2024-06-01' },
  ],
  [3, chat, 'https://r.openai.azure.com/openai/v1/chat/completions', { base: 'https://r.openai.azure.com/openai/v1' }],
  [
    3,
    chat,
    'https://gateway.ai.cloudflare.com/v1/a/g/azure-openai/r/m/chat/completions?api-version=2024-12-01-preview',
    { base: 'https://gateway.ai.cloudflare.com/v1/a/g/azure-openai/r' },
  ],
  [
    1,
    responses,
    'https://gateway.ai.cloudflare.com/v1/a/g/openai/responses',
    { base: 'https://gateway.ai.cloudflare.com/v1/a/g/openai' },
  ],
  [1, responses, 'https://api.openai.com/v1/responses'],
  [3, responses, 'https://r.openai.azure.com/openai/v1/responses', { base: 'https://r.openai.azure.com/openai/v1' }],
  [
    3,
    responses,
    'https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview',
    { base: 'https://r.openai.azure.com' },
  ],
  [20, responses, 'https://openrouter.ai/api/v1/responses'],
  [45, responses, 'https://ark.cn-beijing.volces.com/api/v3/responses'],
  [4, chat, 'http://localhost:11434/v1/chat/completions'],
  [4, 'ollama.chat', 'http://localhost:11434/api/chat'],
  [6, chat, 'https://api.openaimax.com/v1/chat/completions'],
  [7, chat, 'https://api.ohmygpt.com/v1/chat/completions'],
  [8, chat, 'https://own.example/run/a%2Fb/go', { base: 'https://own.example/run/{model}/go', model: 'a/b' }],
  [9, chat, 'https://api.caipacity.com/v1/chat/completions'],
  [10, chat, 'https://api.aiproxy.io/v1/chat/completions'],
  [12, chat, 'https://api.api2gpt.com/v1/chat/completions'],
  [13, chat, 'https://api.aigc2d.com/v1/chat/completions'],
  [14, messages, 'https://api.anthropic.com/v1/messages'],
  [14, messages, 'https://api.moonshot.cn/anthropic/v1/messages', { base: 'https://api.moonshot.cn/anthropic' }],
  [
    15,
    'ernie.chat',
    'https://aip.baidubce.com/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/ernie-tiny-8k',
    { model: 'ERNIE-Tiny-8K' },
  ],
  [16, chat, 'https://open.bigmodel.cn/api/paas/v4/chat/completions'],
  [
    17,
    'dashscope.chat',
    'https://dashscope.aliyuncs.com/api/v1/services/aigc/multimodal-generation/generation',
    { model: 'qwen2-audio-instruct' },
  ],
  [
    17,
    'dashscope.chat',
    'https://dashscope-intl.aliyuncs.com/api/v1/services/aigc/text-generation/generation',
    { base: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', model: 'farui-plus' },
  ],
  [18, 'spark.chat', 'wss://spark-api.xf-yun.com/v3.5/chat', { model: 'SparkDesk-v3.5', other: 'v2.1' }],
  [17, chat, 'https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions'],
  [17, embeddings, 'https://d.example/compatible-mode/v1/embeddings', { base: 'https://d.example/compatible-mode/v1' }],
  [19, chat, 'https://api.360.cn/v1/chat/completions'],
  [
    11,
    'palm.message',
    'https://generativelanguage.googleapis.com/v1beta2/models/chat-bison-001:generateMessage',
    { model: 'PaLM-2' },
  ],
  [
    11,
    'palm.message',
    'https://p.example/v1beta2/models/text-x:generateMessage',
    { base: 'https://p.example', model: 'models/text-x' },
  ],
  [21, 'library.ask', 'https://api.aiproxy.io/api/library/ask'],
  [20, chat, 'https://openrouter.ai/api/v1/chat/completions'],
  [20, messages, 'https://openrouter.ai/api/v1/messages'],
  [22, chat, 'https://fastgpt.run/api/openapi/v1/chat/completions'],
  [
    24,
    generate,
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent',
    { model: 'gemini-2.5-pro' },
  ],
  [
    24,
    generate,
    'https://generativelanguage.googleapis.com/v1/models/gemini-1.0-pro:generateContent',
    { model: 'gemini-1.0-pro' },
  ],
  [24, generate, 'https://g.example/v1/models/m:generateContent', { base: 'https://g.example', other: 'v1' }],
  [
    24,
    generate,
    'https://g.example/v1beta/tunedModels/a%3Ab:generateContent',
    { base: 'https://g.example/v1beta', model: 'tunedModels/a:b' },
  ],
  [25, chat, 'https://api.moonshot.cn/v1/chat/completions'],
  [25, messages, 'https://api.moonshot.cn/anthropic/v1/messages', { base: 'https://api.moonshot.cn/v1' }],
  [26, chat, 'https://open.bigmodel.cn/api/paas/v4/chat/completions'],
  [26, embeddings, 'https://api.z.ai/api/paas/v4/embeddings', { base: 'https://api.z.ai/api/paas/v4' }],
  [26, messages, 'https://api.z.ai/api/anthropic/v1/messages', { base: 'https://api.z.ai/api/paas/v4' }],
  [27, chat, 'https://api.perplexity.ai/chat/completions'],
  [31, chat, 'https://api.lingyiwanwu.com/v1/chat/completions'],
  [33, 'bedrock.converse', 'https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse', { key: 'ak|sk|us-east-1' }],
  [34, 'cohere.chat', 'https://api.cohere.com/v2/chat'],
  [35, chat, 'https://api.minimaxi.com/v1/chat/completions'],
  [35, chat, 'https://api.minimax.chat/v1/text/chatcompletion_v2', { base: 'https://api.minimax.chat/v1' }],
  [35, messages, 'https://api.minimax.io/anthropic/v1/messages', { base: 'https://api.minimax.io/v1' }],
  [37, 'dify.chat', 'https://api.dify.ai/v1/chat-messages'],
  [37, 'dify.chat', 'https://d.example/v1/workflows/run', { base: 'https://d.example/v1', model: 'workflow-1' }],
  [37, 'dify.chat', 'https://api.dify.ai/v1/completion-messages', { model: 'completion-1' }],
  [38, embeddings, 'https://api.jina.ai/v1/embeddings'],
  [39, chat, 'https://api.cloudflare.com/client/v4/accounts/a%2F1/ai/v1/chat/completions', { other: 'a/1' }],
  [39, embeddings, 'https://api.cloudflare.com/client/v4/accounts/a1/ai/v1/embeddings', { other: 'a1' }],
  [40, embeddings, 'https://api.siliconflow.cn/v1/embeddings'],
  [
    41,
    'gemini.generate',
    'https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-x:generateContent',
    { model: 'gemini-x' },
  ],
  [42, chat, 'https://api.mistral.ai/v1/chat/completions'],
  [43, chat, 'https://api.deepseek.com/v1/chat/completions'],
  [43, completions, 'https://api.deepseek.com/beta/completions'],
  [43, messages, 'https://api.deepseek.com/anthropic/v1/messages', { base: 'https://api.deepseek.com/v1' }],
  [44, embeddings, 'https://api.moka.ai/embeddings'],
  [45, chat, 'https://ark.cn-beijing.volces.com/api/v3/chat/completions'],
  [45, chat, 'https://ark.example/api/v3/bots/chat/completions', { base: 'https://ark.example/api/v3', model: 'bot-1' }],
  [45, embeddings, 'https://ark.cn-beijing.volces.com/api/v3/embeddings'],
  [46, chat, 'https://qianfan.baidubce.com/v2/chat/completions'],
  [47, chat, 'http://10.0.0.7:9997/v1/chat/completions', { base: 'http://10.0.0.7:9997' }],
  [48, chat, 'https://api.x.ai/v1/chat/completions'],
  [48, responses, 'https://api.x.ai/v1/responses'],
  [48, messages, 'https://api.x.ai/v1/messages'],
  [23, 'hunyuan.chat', 'https://hunyuan.tencentcloudapi.com/'],
  [49, 'coze.chat', 'https://api.coze.cn/v3/chat'],
  [56, 'replicate.predict', 'https://api.replicate.com/v1/models/meta/llama-3/predictions', { model: 'meta/llama-3' }],
  [56, 'replicate.predict', 'https://api.replicate.com/v1/predictions', { model: 'someone/model:abc' }],
  [58, chat, 'https://own.example/v1/chat/completions', { base: 'https://own.example' }],
  [1, 'openai.decisions', 'https://api.openai.com/v1/decisions', { model: 'gpt-6-luna' }],
  [1, 'rerank', 'https://tei.example/v1/rerank', { base: 'https://tei.example/v1' }],
  [4, 'ollama.embed', 'http://localhost:11434/api/embed', { base: 'http://localhost:11434/v1' }],
  [17, 'dashscope.images', 'https://dashscope.aliyuncs.com/api/v1/services/aigc/text2image/image-synthesis'],
  [17, 'dashscope.image-messages', 'https://dashscope.aliyuncs.com/api/v1/services/aigc/multimodal-generation/generation'],
  [
    17,
    'dashscope.rerank',
    'https://d.example/api/v1/services/rerank/text-rerank/text-rerank',
    { base: 'https://d.example/compatible-mode/v1' },
  ],
  [20, embeddings, 'https://openrouter.ai/api/v1/embeddings'],
  [24, 'gemini.embed', 'https://generativelanguage.googleapis.com/v1beta/models/e:embedContent', { model: 'models/e' }],
  [24, 'gemini.batch_embed', 'https://generativelanguage.googleapis.com/v1beta/models/e:batchEmbedContents', { model: 'e' }],
  [24, 'gemini.interactions', 'https://generativelanguage.googleapis.com/v1beta/interactions', { model: 'gemini-3.8-flash' }],
  [24, 'gemini.predict', 'https://generativelanguage.googleapis.com/v1beta/models/imagen-4:predict', { model: 'imagen-4' }],
  [26, 'zhipu.images', 'https://open.bigmodel.cn/api/paas/v4/images/generations'],
  [26, 'rerank', 'https://open.bigmodel.cn/api/paas/v4/rerank'],
  [26, 'openai.speech', 'https://api.z.ai/api/paas/v4/audio/speech', { base: 'https://api.z.ai/api/paas/v4' }],
  [
    33,
    'bedrock.titan-embed',
    'https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.titan-embed-text-v2%3A0/invoke',
    { key: 'ak|sk|us-east-1', model: 'amazon.titan-embed-text-v2:0' },
  ],
  [34, 'cohere.embed', 'https://api.cohere.com/v2/embed'],
  [34, 'cohere.rerank', 'https://api.cohere.ai/v2/rerank', { base: 'https://api.cohere.ai/v2' }],
  [38, 'rerank', 'https://api.jina.ai/v1/rerank'],
  [
    39,
    'cloudflare.run',
    'https://api.cloudflare.com/client/v4/accounts/a1/ai/run/@cf/openai/whisper',
    { other: 'a1', model: '@cf/openai/whisper' },
  ],
  [40, 'siliconflow.images', 'https://api.siliconflow.cn/v1/images/generations'],
  [40, 'rerank', 'https://api.siliconflow.com/v1/rerank', { base: 'https://api.siliconflow.com/v1' }],
  [40, 'openai.speech', 'https://api.siliconflow.cn/v1/audio/speech'],
  [
    41,
    'vertex.embed',
    'https://aiplatform.googleapis.com/v1/publishers/google/models/text-embedding-005:predict',
    { model: 'text-embedding-005' },
  ],
  [41, 'gemini.predict', 'https://aiplatform.googleapis.com/v1/publishers/google/models/imagen-4:predict', { model: 'imagen-4' }],
  [
    41,
    'gemini.embed',
    'https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-embedding-2:embedContent',
    { model: 'gemini-embedding-2' },
  ],
  [42, 'openai.moderations', 'https://api.mistral.ai/v1/moderations'],
  [35, 'minimax.images', 'https://api.minimax.io/v1/image_generation', { base: 'https://api.minimax.io/v1' }],
  [35, 'minimax.speech', 'https://api.minimaxi.com/v1/t2a_v2'],
  [48, 'xai.image-edits', 'https://api.x.ai/v1/images/edits'],
  [45, 'volcengine.images', 'https://ark.cn-beijing.volces.com/api/v3/images/generations'],
  [46, 'rerank', 'https://qianfan.baidubce.com/v2/rerank'],
  [47, 'openai.images', 'http://10.0.0.7:9997/v1/images/generations', { base: 'http://10.0.0.7:9997' }],
  [48, 'openai.images', 'https://api.x.ai/v1/images/generations'],
]

describe('the address of a call', () => {
  it.each(urls)('of type %i for %s is %s', (type, format, url, given = {}) => {
    expect(provider(type).url(channel(type, given), format, given.model ?? 'm', false)).toBe(url)
  })

  it('is tested for every provider with a format', () => {
    const covered = new Set(urls.map(([type]) => type))
    expect(providers.filter(({ id, speaks }) => Object.keys(speaks).length > 0 && !covered.has(id))).toEqual([])
  })

  it('is refused for a format that the provider does not speak', () => {
    expect(() => provider(14).url(channel(14), chat, 'm', false)).toThrow()
    expect(() => provider(24).url(channel(24), chat, 'm', false)).toThrow()
  })

  it('never contains the version path twice', () => {
    expect(joinUrl('https://h/v1', '/v1/models')).toBe('https://h/v1/models')
    expect(joinUrl('https://h/x/api/paas/v4', '/api/paas/v4/models')).toBe('https://h/x/api/paas/v4/models')
    expect(joinUrl('https://h/v1beta', '/v1/models')).toBe('https://h/v1beta/models')
    expect(joinUrl('https://v1.h', '/v1/models')).toBe('https://v1.h/v1/models')
  })

  it('[T078] contains any model name as a segment of its path or a value of its query, or refuses it', () => {
    const hostile = [
      'a/../../x',
      '..',
      '.',
      'a?key=x&y=z',
      'a#b',
      'a\r\nx=y',
      'a\\..\\b',
      'a%2f..%2fb',
      'a;b',
      'a@evil.test',
      '//evil.test',
      'a\ud800',
    ]
    for (const { id, speaks } of providers) {
      const base = id === 8 ? 'https://h.example/v1/{model}/chat' : provider(id).baseUrl || 'https://h.example'
      const upstream = { ...channel(id), baseUrl: base, ...(id === 33 ? { key: 'ak|sk|us-east-1' } : {}) }
      for (const format of Object.keys(speaks) as Format[]) {
        const ofPlain = addressOf(upstream, format, 'plain')
        if (!ofPlain) continue
        const [before = ''] = ofPlain.pathname.split('plain')
        for (const model of hostile) {
          const url = addressOf(upstream, format, model)
          if (!url) continue
          const told = `${id} ${format} ${model}: ${url}`
          const names = [...ofPlain.searchParams.keys()]
          expect([url.origin, url.hash, [...url.searchParams.keys()]], told).toEqual([ofPlain.origin, '', names])
          expect(url.pathname.startsWith(before), told).toBe(true)
          expect(url.pathname.slice(before.length), told).not.toMatch(/[;\\]|(^|\/)\.{1,2}(\/|$)/)
        }
      }
    }
    expect(addressOf({ ...channel(24), baseUrl: 'https://h.example' }, generate, 'a/../../x')).toBeUndefined()
  })

  it("of the model list is the vendor's", () => {
    const listed = (type: number) => provider(type).modelsUrl(channel(type))
    expect(listed(1)).toBe('https://api.openai.com/v1/models')
    expect(listed(26)).toBe('https://open.bigmodel.cn/api/paas/v4/models')
    expect(listed(14)).toBe('https://api.anthropic.com/v1/models')
    expect(listed(3)).toBeNull()
  })
})

const openAiAccount = { 'openai-organization': 'org-of-caller', 'openai-project': 'proj-of-caller' }
const anthropicAccount = { 'anthropic-workspace-id': 'wrkspc_1', 'anthropic-user-profile-id': 'up_1' }

describe('the headers of a call', () => {
  const caller = {
    authorization: 'Bearer sk-caller',
    cookie: 'session=1',
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'a,b',
    'x-forwarded-for': '1.2.3.4',
  }

  it.each<[number, Format, Partial<Upstream>, Record<string, string>]>([
    [1, chat, {}, { authorization: 'Bearer k' }],
    [1, chat, { organization: 'org-1' }, { authorization: 'Bearer k', 'openai-organization': 'org-1' }],
    [3, chat, {}, { 'api-key': 'k' }],
    [4, chat, { key: '' }, {}],
    [14, messages, {}, { 'x-api-key': 'k', 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a,b' }],
    [17, chat, { other: '{"图":\n1}' }, { authorization: 'Bearer k', 'x-dashscope-plugin': '{"\\u56fe": 1}' }],
    [26, chat, {}, { authorization: 'Bearer k' }],
    [43, messages, {}, { authorization: 'Bearer k', 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b' }],
  ])('of type %i for %s have its key and permitted caller headers', (type, format, given, headers) => {
    expect(provider(type).headers({ ...channel(type), ...given }, format, caller)).toEqual(headers)
  })

  it('never contain headers of the caller other than the two of Messages', () => {
    for (const { id, speaks } of providers) {
      for (const format of Object.keys(speaks) as Format[]) {
        const sent = JSON.stringify(provider(id).headers(channel(id), format, caller))
        expect(sent).not.toMatch(/sk-caller|session|1\.2\.3\.4/)
      }
    }
  })

  const known = {
    'openai-beta': 'responses=experimental, other=1',
    'idempotency-key': 'k1',
    'x-client-request-id': 'c1',
  }

  it.each<[number, Format, string, Record<string, string>, Record<string, string>]>([
    [1, responses, 'https://api.openai.com', { session_id: 's', 'x-codex-turn-state': 't' }, openAiAccount],
    [3, responses, 'https://mine.openai.azure.com', { session_id: 's', 'x-codex-turn-state': 't' }, openAiAccount],
    [8, chat, 'https://eu.api.openai.com/v1/chat/completions', { session_id: 's', 'x-codex-turn-state': 't' }, openAiAccount],
    [14, messages, 'https://api.anthropic.com', { session_id: 's' }, anthropicAccount],
  ])(
    'of type %i for %s pass on what the vendor reads, but headers that decide who pays only if the channel lists them',
    (type, format, baseUrl, plain, account) => {
      const all = { ...known, ...plain, ...account, 'x-other': 'o' }
      const headers = (more: Partial<Upstream>) => {
        const {
          authorization: _,
          'x-api-key': __,
          'api-key': ___,
          'anthropic-version': ____,
          ...rest
        } = provider(type).headers({ ...channel(type), baseUrl, ...more }, format, all)
        return rest
      }
      expect(headers({})).toEqual({ ...known, ...plain })
      expect(headers({ baseUrl: 'https://gateway.example' })).toEqual({ ...known, ...plain, ...account })
      const [listed = ''] = Object.keys(account)
      expect(headers({ setting: { passed_headers: [listed as PassableHeader] } })).toEqual({
        ...known,
        [listed]: account[listed],
      })
      expect(headers({ setting: { passed_headers: [] }, baseUrl: 'https://gateway.example' })).toEqual(known)
    },
  )

  it('of the caller are passed only to the vendor of a protocol that reads them, its resellers and its hosts', () => {
    const getting = providers.filter(({ id, speaks }) =>
      Object.keys(speaks).some((format) => {
        const asked = provider(id).forChannel?.(channel(id)) ?? provider(id)
        const sent = asked.headers(channel(id), format as Format, known)
        const passed = Object.keys(known).filter((name) => name in sent)
        // Either all of them are passed or none.
        expect([id, format, [0, Object.keys(known).length].includes(passed.length)]).toEqual([id, format, true])
        return passed.length > 0
      }),
    )
    expect(getting.map(({ id }) => id).sort((a, b) => a - b)).toEqual([1, 3, 6, 7, 8, 9, 10, 12, 13, 14, 58])
  })

  it("contain the channel's organization instead of the caller's, and no caller headers for vendors that read none", () => {
    const setting = { passed_headers: ['openai-organization' as const] }
    const headers = (type: number, more: Partial<Upstream>) =>
      provider(type).headers({ ...channel(type), ...more }, chat, { ...known, ...openAiAccount })
    expect(headers(1, { setting, organization: 'org-1' })).toMatchObject({ 'openai-organization': 'org-1' })
    expect(headers(43, {})).toEqual({ authorization: 'Bearer k' })
    expect(provider(1).headers(channel(1), chat, { 'openai-beta': 'a\r\nb' })).toEqual({ authorization: 'Bearer k' })
  })

  it('[299] of Anthropic pass to it under every name that is not listed, unless the channel lists some', () => {
    const browser = { 'anthropic-dangerous-direct-browser-access': 'true' }
    const sent = { 'anthropic-version': '2023-06-01', 'anthropic-new-2027': 'n', ...browser, 'x-new': 'x' }
    const passed = (setting: Upstream['setting']) => provider(14).headers({ ...channel(14), setting }, messages, sent)
    const own = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }
    expect(passed({})).toEqual({ ...own, 'anthropic-new-2027': 'n' })
    expect(passed({ passed_headers: [] })).toEqual(own)
  })

  it('contain the first stable Messages version when the caller sends none', () => {
    expect(provider(14).headers(channel(14), messages, {})).toEqual({ 'x-api-key': 'k', 'anthropic-version': '2023-06-01' })
  })
})

describe('reasoning models of OpenAI', () => {
  const adjust = (model: string, body: Record<string, unknown>) => provider(1).adjustBody?.(body, chat, model)

  it('get max_completion_tokens and no sampling parameters', () => {
    expect(adjust('o3', { max_tokens: 5, temperature: 1, messages: [] })).toEqual({
      max_tokens: undefined,
      max_completion_tokens: 5,
      temperature: undefined,
    })
    expect(adjust('gpt-5-mini', { max_tokens: 5, max_completion_tokens: 7 })).toEqual({ max_tokens: undefined })
  })

  it('take the effort from their name', () => {
    expect(adjust('o3-mini-high', {})).toEqual({ model: 'o3-mini', reasoning_effort: 'high' })
    expect(adjust('o3-mini', {})).toEqual({})
  })

  it('are not confused with other models', () => {
    for (const model of ['gpt-4o', 'gpt-5-chat-latest', 'openchat', 'omni']) expect(adjust(model, { max_tokens: 5 })).toEqual({})
    expect(provider(1).adjustBody?.({ max_tokens: 5 }, completions, 'o3')).toEqual({})
  })
})

describe('requests in Responses', () => {
  const adjust = (body: Record<string, unknown>, model = 'gpt-5.2') => provider(1).adjustBody?.(body, responses, model)

  it('lose values that only other vendors accept', () => {
    expect(adjust({ reasoning: { effort: 'default', summary: 'auto' }, service_tier: 'standard_only' })).toEqual({
      reasoning: { effort: undefined, summary: 'auto' },
      service_tier: undefined,
    })
  })

  it('[199] [203] raise an output limit that the vendor refuses, and never ask for usage', () => {
    expect(adjust({ max_output_tokens: 5, stream_options: { include_usage: true } })).toEqual({
      max_output_tokens: 16,
      stream_options: undefined,
    })
    expect(adjust({ max_output_tokens: 16, stream_options: { include_obfuscation: false } })).toEqual({})
    expect(provider(3).adjustBody?.({ stream_options: { include_usage: true } }, responses, 'gpt-5.2')).toEqual({
      stream_options: undefined,
    })
  })

  it("leave out reasoning of another vendor's model in the history", () => {
    const own = { type: 'reasoning', summary: [], encrypted_content: 'gAAAAA' }
    const foreign = { type: 'reasoning', summary: [], encrypted_content: 'sluice:anthropic:signature::abc' }
    expect(adjust({ input: [own, foreign, { role: 'user', content: 'hi' }] })).toEqual({
      input: [own, { role: 'user', content: 'hi' }],
    })
    expect(adjust({ input: [own] })).toEqual({})
  })

  it('take the effort from the name of the model', () => {
    expect(adjust({ reasoning: { summary: 'auto' } }, 'o3-mini-high')).toEqual({
      model: 'o3-mini',
      reasoning: { summary: 'auto', effort: 'high' },
    })
  })

  it('[113] replace Chat for models that refuse tools in Chat, or do not support Chat at all', () => {
    const prefers = (model: string, body: Record<string, unknown>, format: typeof chat | typeof responses = chat) =>
      provider(1).prefers?.(format, model, body)
    const tools = [{ type: 'function', function: { name: 'f' } }]
    expect(prefers('gpt-5.4', { tools })).toBe(responses)
    expect(prefers('gpt-6-sol', { functions: [{ name: 'f' }] })).toBe(responses)
    expect(prefers('gpt-5.1-codex', {})).toBe(responses)
    expect(prefers('gpt-5.4', {})).toBeUndefined()
    expect(prefers('gpt-5.4', { tools, reasoning_effort: 'none' })).toBeUndefined()
    expect(prefers('gpt-4o', { tools })).toBeUndefined()
    expect(prefers('gpt-5.2', { tools })).toBeUndefined()
    expect(prefers('gpt-5.4', { tools }, responses)).toBeUndefined()
  })
})

describe('calls other than conversations', () => {
  const adjust = (type: number, format: Format, body: Record<string, unknown>, model = 'm', more: Partial<Upstream> = {}) => {
    const declared = provider(type)
    const own = declared.forChannel?.({ ...channel(type), ...more }) ?? declared
    return own.adjustBody?.(body, format, model)
  }
  const speaks = (type: number, model: string) =>
    Object.keys(provider(type).speaks).filter((format) => provider(type).speaksWith?.(format as Format, model) ?? true)

  it('[237] have no response_format, in JSON or a form, for models that always return image data', () => {
    const body = { prompt: 'x', response_format: 'url' }
    expect(adjust(1, 'openai.images', body, 'gpt-image-1')).toEqual({ response_format: undefined })
    expect(adjust(1, 'openai.image-edits', body, 'chatgpt-image-latest')).toEqual({ response_format: undefined })
    expect(adjust(1, 'openai.images', body, 'dall-e-3')).toEqual({})
    expect(adjust(3, 'openai.images', body, 'gpt-image-1', { baseUrl: 'https://r.openai.azure.com' })).toEqual({
      response_format: undefined,
    })
  })

  it('have no model in a form for a deployment of Azure', () => {
    const form = { model: 'whisper-1' }
    const old = { baseUrl: 'https://r.openai.azure.com' }
    expect(adjust(3, 'openai.transcriptions', form, 'whisper-1', old)).toEqual({ model: undefined })
    expect(adjust(3, 'openai.translations', form, 'whisper-1', old)).toEqual({ model: undefined })
    expect(adjust(3, 'openai.transcriptions', form, 'whisper-1', { baseUrl: 'https://r.openai.azure.com/openai/v1' })).toEqual({})
    expect(adjust(3, chat, { max_tokens: 5 }, 'o3', old)).toMatchObject({ max_completion_tokens: 5 })
  })

  it('[221] request numbers from hosts that return only numbers', () => {
    for (const type of [17, 26, 46, 47]) {
      expect(adjust(type, embeddings, { encoding_format: 'base64' })).toEqual({ encoding_format: 'float' })
      expect(adjust(type, embeddings, { encoding_format: 'float' })).toEqual({})
    }
    expect(adjust(38, embeddings, { encoding_format: 'base64' })).toEqual({
      encoding_format: undefined,
      embedding_type: 'base64',
    })
    expect(adjust(42, embeddings, { user: 'me', dimensions: 8 })).toEqual({
      user: undefined,
      dimensions: undefined,
      output_dimension: 8,
    })
  })

  it('[229] have documents as strings for hosts that accept only strings, if they contain only text', () => {
    for (const type of [26, 40, 46, 47]) {
      expect(adjust(type, 'rerank', { documents: [{ text: 'a' }, 'b'] })).toEqual({ documents: ['a', 'b'] })
      expect(adjust(type, 'rerank', { documents: ['a'] })).toEqual({})
      expect(adjust(type, 'rerank', { documents: [{ image: 'x' }] })).toEqual({})
    }
  })

  it('have an aspect ratio instead of a size for Grok', () => {
    expect(adjust(48, 'openai.images', { size: '1536x1024', quality: 'hd', n: 2 })).toEqual({
      size: undefined,
      quality: undefined,
      aspect_ratio: '3:2',
    })
    expect(adjust(48, 'openai.images', { n: 2 })).toEqual({})
  })

  it('have the same model in the URL and in each request of a batch for Gemini', () => {
    const request = { content: {} }
    expect(adjust(24, 'gemini.embed', { model: 'models/asked', ...request }, 'e')).toEqual({ model: undefined })
    expect(adjust(24, 'gemini.embed', request, 'e')).toEqual({})
    expect(adjust(24, 'gemini.batch_embed', { requests: [{ model: 'models/asked', ...request }, request] }, 'e')).toEqual({
      requests: [
        { model: 'models/e', ...request },
        { model: 'models/e', ...request },
      ],
    })
    expect(adjust(24, 'gemini.batch_embed', { requests: [{ model: 'models/e', ...request }] }, 'e')).toEqual({})
  })

  it('use the format that each model supports', () => {
    expect(speaks(24, 'imagen-4.0-generate-001')).toEqual(['gemini.predict'])
    expect(speaks(24, 'gemini-embedding-001')).not.toContain('gemini.predict')
    expect(speaks(41, 'text-embedding-005')).toEqual(['vertex.embed'])
    expect(speaks(41, 'google/gemini-embedding-2')).toEqual(['gemini.embed'])
    expect(speaks(41, 'imagen-4.0-generate-001')).toEqual(['gemini.predict'])
    expect(speaks(41, 'gemini-2.5-pro')).toEqual(['gemini.generate', 'gemini.count_tokens', 'gemini.interactions'])
    expect(speaks(33, 'amazon.titan-embed-text-v2:0')).toContain('bedrock.titan-embed')
    expect(speaks(33, 'us.cohere.embed-v4:0')).toContain('bedrock.cohere-embed')
    expect(speaks(33, 'amazon.nova-pro-v1:0')).not.toContain('bedrock.titan-embed')
    expect(speaks(17, 'wanx2.1-t2i-turbo')).toContain('dashscope.images')
    expect(speaks(17, 'qwen-image-plus')).toContain('dashscope.image-messages')
    expect(speaks(17, 'wan2.6-t2i')).not.toContain('dashscope.images')
    expect(speaks(39, '@cf/baai/bge-m3')).not.toContain('cloudflare.run')
  })

  it('poll a task of Alibaba at the host that accepted it', () => {
    expect(provider(17).taskUrl?.({ ...channel(17), baseUrl: 'https://d.example/compatible-mode/v1' }, 'a/b')).toBe(
      'https://d.example/api/v1/tasks/a%2Fb',
    )
    expect(provider(17).headers(channel(17), 'dashscope.images', {})).toMatchObject({ 'x-dashscope-async': 'enable' })
    expect(provider(17).headers(channel(17), 'dashscope.image-messages', {})).not.toHaveProperty('x-dashscope-async')
  })
})

describe('the list of providers', () => {
  it('passes its start-up check', () => expect(() => checkProviders()).not.toThrow())

  it('offers the channel types in their usual order, newer ones last, and none that cannot be called', () => {
    expect(providers.filter(({ offered }) => offered).map(({ id }) => id)).toEqual([
      1, 2, 5, 36, 4, 14, 33, 41, 3, 34, 39, 43, 15, 46, 17, 18, 16, 26, 24, 11, 45, 25, 19, 23, 31, 35, 37, 38, 40, 42, 8, 22,
      21, 44, 20, 47, 48, 49, 56, 58, 50, 52, 59,
    ])
    expect(providers.filter(({ offered }) => !offered).map(({ id }) => id)).toEqual([6, 7, 9, 10, 12, 13, 27])
  })

  it('has one provider for each built-in model', () => {
    expect(builtInModels().get('gpt-4o')?.key).toBe('openai')
    expect(builtInModels().get('claude-2')?.key).toBe('anthropic')
  })

  it.each([
    ['id 1 is declared twice', { id: 1 }],
    ['key openai is declared twice', { key: 'openai' }],
    ['a text lacks a language', { label: { zh: '智谱', en: ' ' } }],
    // The types exclude this colour, but untyped code could pass it.
    ['does not know the colour mauve', { color: 'mauve' as 'blue' }],
    ['bad base URL', { baseUrl: 'api.example' }],
    ['bad base URL', { baseUrl: 'https://api.example/' }],
    ['a path does not begin with a slash', { speaks: { [chat]: 'v1/chat' } }],
    ['model m is listed twice', { models: ['m', 'm'] }],
    ['its id is not a positive integer', { id: 0 }],
  ])('is refused at start when %s', (fault, change) => {
    const [first, second, ...rest] = providers
    if (!first || !second) throw new Error('The list is empty')
    expect(() => checkProviders([first, { ...second, ...change }, ...rest])).toThrow(fault)
  })
})

function provider(type: number) {
  const found = providerById(type)
  if (!found) throw new Error(`No provider ${type}`)
  return found
}

function channel(type: number, { base, other, key }: { base?: string; other?: string; key?: string } = {}): Upstream {
  return {
    id: 1,
    type,
    key: key ?? 'k',
    baseUrl: base ?? provider(type).baseUrl,
    organization: '',
    other: other ?? '',
    setting: {},
  }
}
