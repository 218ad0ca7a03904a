import { readFileSync } from 'node:fs'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import type { Source, SourceValues } from './source.ts'

/** Providers by the prefix of a LiteLLM model name, the part before the slash. */
const providers: Readonly<Record<string, { readonly type: number; readonly baseUrl?: string; readonly needsOwnUrl?: true }>> = {
  openai: { type: 1 },
  azure: { type: 3, needsOwnUrl: true },
  anthropic: { type: 14 },
  gemini: { type: 24 },
  bedrock: { type: 33 },
  mistral: { type: 42 },
  deepseek: { type: 43 },
  cohere: { type: 34 },
  cohere_chat: { type: 34 },
  xai: { type: 48 },
  openrouter: { type: 20 },
  ollama: { type: 4 },
  ollama_chat: { type: 4 },
  perplexity: { type: 27 },
  moonshot: { type: 25 },
  dashscope: { type: 17 },
  volcengine: { type: 45 },
  groq: { type: 1, baseUrl: 'https://api.groq.com/openai' },
  together_ai: { type: 1, baseUrl: 'https://api.together.xyz' },
  hosted_vllm: { type: 1, needsOwnUrl: true },
  openai_like: { type: 1, needsOwnUrl: true },
  custom_openai: { type: 1, needsOwnUrl: true },
}
/** Model names that LiteLLM accepts without a prefix. */
const bareNames: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|o\d|chatgpt-|text-embedding-|dall-e|whisper|tts-)/, 'openai'],
  [/^claude-/, 'anthropic'],
  [/^gemini-/, 'gemini'],
]

interface Deployment {
  readonly name: string
  readonly upstream: string
  /** 0 for a provider that Sluice does not have. */
  readonly type: number
  readonly baseUrl: string
  readonly key: string
  readonly other: string
}

/**
 * The `model_list` of a LiteLLM configuration as a table of channels: one channel for all models of the same upstream with the same key. Keys
 * written as `os.environ/NAME` are read from the environment of this process. Users, keys and budgets are in LiteLLM's database, which is not read.
 */
export async function openLitellmSource(file: string, environment: NodeJS.ProcessEnv = process.env): Promise<Source> {
  const { parse } = await import('yaml')
  const config: unknown = parse(readFileSync(file, 'utf8'))
  const list = memberOf(config, 'model_list')
  if (!Array.isArray(list)) throw new Error(`${file} has no model_list: it is not a configuration of LiteLLM`)
  const rows = channelsOf(list.map((entry) => deploymentOf(entry, environment)))
  const tables = new Map([['channels', new Set(columns)]])
  return {
    kind: 'configuration',
    tables,
    left: new Map(),
    page: async (_table, { after, limit }) => rows.filter(({ id }) => id > after).slice(0, limit),
    all: async () => rows,
    count: async () => rows.length,
    hasRows: async () => rows.length > 0,
    close: async () => {},
  }
}

export const columns = ['id', 'type', 'key', 'status', 'name', 'base_url', 'other', 'models', 'model_mapping']

function channelsOf(deployments: readonly Deployment[]): (SourceValues & { readonly id: number })[] {
  const channels = new Map<string, Deployment[]>()
  for (const deployment of deployments) {
    const { type, baseUrl, key, other } = deployment
    // Two deployments of one name become two channels, because a channel maps a name to one model.
    for (let nth = 0; ; nth++) {
      const place = JSON.stringify([type, baseUrl, key, other, nth])
      const models = channels.get(place) ?? []
      if (models.some(({ name }) => name === deployment.name)) continue
      channels.set(place, [...models, deployment])
      break
    }
  }
  const rows = [...channels].map(([place, models]) => {
    const { type = 0, baseUrl = '', key = '', other = '', upstream = '' } = models[0] ?? {}
    const renamed = models.filter((model) => model.name !== model.upstream).map((model) => [model.name, model.upstream])
    const first = upstream.slice(0, 60) || 'LiteLLM'
    return {
      // The same channel has the same number in every run.
      id: Number.parseInt(sha256(place).slice(0, 12), 16),
      type,
      key,
      status: 1,
      name: models.length > 1 ? `${first} + ${models.length - 1}` : first,
      base_url: baseUrl,
      other,
      models: models.map(({ name }) => name).join(','),
      model_mapping: renamed.length > 0 ? JSON.stringify(Object.fromEntries(renamed)) : '',
    }
  })
  return rows.sort((one, two) => one.id - two.id)
}

function deploymentOf(entry: unknown, environment: NodeJS.ProcessEnv): Deployment {
  const given = memberOf(entry, 'litellm_params')
  const textOf = (member: string) => {
    const text = memberOf(given, member)
    const [, variable] = typeof text === 'string' ? (/^os\.environ\/(.+)$/.exec(text) ?? []) : []
    return variable === undefined ? String(text ?? '') : (environment[variable] ?? '')
  }
  const full = textOf('model')
  const slash = full.indexOf('/')
  const bare = bareNames.find(([pattern]) => pattern.test(full))?.[1] ?? ''
  const prefix = slash > 0 ? full.slice(0, slash) : bare
  const provider = providers[prefix]
  const upstream = slash > 0 && provider ? full.slice(slash + 1) : full
  const baseUrl = textOf('api_base') || (provider?.baseUrl ?? '')
  const aws = ['aws_access_key_id', 'aws_secret_access_key', 'aws_region_name'].map(textOf)
  const hasAddress = baseUrl !== '' || !provider?.needsOwnUrl
  return {
    name: String(memberOf(entry, 'model_name') ?? upstream),
    upstream,
    type: provider && hasAddress ? provider.type : 0,
    baseUrl,
    key:
      prefix === 'bedrock'
        ? aws.includes('')
          ? ''
          : aws.join('|')
        : textOf('api_key') || (prefix.startsWith('ollama') ? 'none' : ''),
    other: prefix === 'azure' ? textOf('api_version') : '',
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined
}
