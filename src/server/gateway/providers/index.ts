import { channelColors } from '../../../contract/entities/channel-status.ts'
import { parseUrl } from '../../base/lib/net/parse-url.ts'
import { advancedCustom } from './advanced-custom.ts'
import { aiproxyLibrary } from './aiproxy-library.ts'
import { ali } from './ali.ts'
import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { baidu } from './baidu.ts'
import { bedrock } from './bedrock.ts'
import { cloudflare } from './cloudflare.ts'
import { cohere } from './cohere.ts'
import * as compatible from './compatible.ts'
import { coze } from './coze.ts'
import { custom } from './custom.ts'
import { deepseek } from './deepseek.ts'
import { dify } from './dify.ts'
import { gemini } from './gemini.ts'
import { minimax } from './minimax.ts'
import { mistral } from './mistral.ts'
import { moonshot } from './moonshot.ts'
import { ollama } from './ollama.ts'
import { openai, resellers } from './openai.ts'
import { openrouter } from './openrouter.ts'
import * as own from './own-protocols.ts'
import { palm } from './palm.ts'
import type { Provider } from './provider.ts'
import { replicate } from './replicate.ts'
import { tencent } from './tencent.ts'
import { vertex } from './vertex.ts'
import { volcengine } from './volcengine.ts'
import { xai } from './xai.ts'
import { xunfei } from './xunfei.ts'
import { zhipu, zhipuClassic } from './zhipu.ts'

/** Every kind of upstream: first those that the console offers, in the order of its menu, then those that only old channels have. */
export const providers: readonly Provider[] = Object.freeze([
  openai,
  own.drawing,
  own.drawingPlus,
  own.music,
  ollama,
  anthropic,
  bedrock,
  vertex,
  azure,
  cohere,
  cloudflare,
  deepseek,
  baidu,
  compatible.baiduV2,
  ali,
  xunfei,
  zhipuClassic,
  zhipu,
  gemini,
  palm,
  volcengine,
  moonshot,
  compatible.qihoo360,
  tencent,
  compatible.lingyiwanwu,
  minimax,
  dify,
  compatible.jina,
  compatible.siliconflow,
  mistral,
  custom,
  compatible.fastgpt,
  aiproxyLibrary,
  compatible.moka,
  openrouter,
  compatible.xinference,
  xai,
  coze,
  replicate,
  advancedCustom,
  own.kling,
  own.vidu,
  own.videoHost,
  ...resellers,
  compatible.perplexity,
])

const byId: ReadonlyMap<number, Provider> = new Map(providers.map((provider) => [provider.id, provider]))

export function providerById(id: number): Provider | undefined {
  return byId.get(id)
}

/** Every built-in model with the provider that first names it. */
export function builtInModels(): ReadonlyMap<string, Provider> {
  const owners = new Map<string, Provider>()
  for (const provider of providers) for (const model of provider.models) if (!owners.has(model)) owners.set(model, provider)
  return owners
}

/** Throws one error that lists all faults of the declarations. Called at start, so that a faulty one is never used. */
export function checkProviders(list: readonly Provider[] = providers): void {
  const wrong = [
    ...repeated(list.map(({ id }) => id)).map((id) => `id ${id} is declared twice`),
    ...repeated(list.map(({ key }) => key)).map((key) => `key ${key} is declared twice`),
    ...list.flatMap((provider) => faultsOf(provider).map((fault) => `${provider.key}: ${fault}`)),
  ]
  if (wrong.length > 0) throw new Error(`Providers: ${wrong.join('; ')}`)
}

function faultsOf(provider: Provider): string[] {
  const { id, key, label, keyFormat, otherLabel, color, baseUrl, docs, speaks, models } = provider
  const texts = [label, keyFormat, ...(otherLabel ? [otherLabel] : [])]
  const paths = Object.values(speaks)

  return [
    ...(Number.isInteger(id) && id > 0 ? [] : ['its id is not a positive integer']),
    ...(/^[a-z0-9-]+$/.test(key) ? [] : ['its key is not in lower case']),
    ...(texts.every(({ zh, en }) => zh.trim() !== '' && en.trim() !== '') ? [] : ['a text lacks a language']),
    ...(color in channelColors ? [] : [`the console does not know the colour ${color}`]),
    ...(baseUrl === '' || (isUrl(baseUrl) && !baseUrl.endsWith('/')) ? [] : [`bad base URL ${baseUrl}`]),
    ...(docs === '' || isUrl(docs) ? [] : [`bad documentation URL ${docs}`]),
    ...(paths.every((path) => path === '' || path.startsWith('/')) ? [] : ['a path does not begin with a slash']),
    ...repeated(models).map((model) => `model ${model} is listed twice`),
  ]
}

function isUrl(text: string): boolean {
  return parseUrl(text) !== undefined && /^https?:/.test(text)
}

function repeated<T>(values: readonly T[]): T[] {
  return values.filter((value, at) => values.indexOf(value) !== at)
}
