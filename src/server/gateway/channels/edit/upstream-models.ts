import { z } from 'zod'
import type { ModelEnd } from '../../../../contract/model-ends.ts'
import type { Text } from '../../../../contract/text.ts'
import { fail } from '../../../base/lib/failure.ts'
import { callConfigured, type UpstreamAgents } from '../../../base/lib/net/http-client.ts'
import { CallFailure, type Reply } from '../../../base/lib/net/upstream-http/exchange.ts'
import type { Core } from '../../../base/options/core.ts'
import type { Format } from '../../protocols/format.ts'
import type { Provider, Upstream } from '../../providers/provider.ts'
import { openChannel, type RunningChannel } from '../index/model-index.ts'
import { withHeaderOverrides } from '../request/override.ts'
import { siteIdFor } from '../request/site-hops.ts'
import { readKeys } from '../row/keys.ts'
import { endInList } from '../row/model-ends.ts'
import { readFields, requireBaseUrl, requireProvider } from './fields.ts'

/** Asking an upstream which models it has. A stored key only ever goes to the address that is stored beside it. */
type Parts = Core & { readonly upstream: UpstreamAgents }

const limits = { timeoutMs: 15_000, sizeBytesMax: 4 * 1024 * 1024 }

/** A model in an upstream's list. */
export interface ListedModel {
  readonly name: string
  readonly end: ModelEnd | undefined
}

/** The names of the models of a saved channel. Throws `not_found`, `channel_list_unsupported` or `channel_list_failed`. */
export async function listModelsOfChannel(parts: Parts, asked: { id: number }): Promise<string[]> {
  return (await readModelsOfChannel(parts, asked)).map(({ name }) => name)
}

/** The models of a saved channel. Throws the same errors. */
export async function readModelsOfChannel(parts: Parts, { id }: { id: number }): Promise<ListedModel[]> {
  const { keys } = await openChannel(parts, id)
  const [channel] = keys
  return channel ? askForModels(parts.upstream, channel.provider, channel) : fail('not_found')
}

/** Lists the models for a form that is not saved, using its first key. Throws the same errors, and those of saving. */
export async function listModelsOfForm(parts: Parts, form: { type: number; base_url: string; key: string }): Promise<string[]> {
  const provider = requireProvider(form.type)
  const { base_url = '' } = readFields(parts.env, provider, { base_url: form.base_url })
  requireBaseUrl(provider, base_url)
  const [key = ''] = form.key.trim() === '' ? [] : readKeys(provider, form.key)
  const baseUrl = base_url || provider.baseUrl
  const siteId = siteIdFor(parts, baseUrl)
  const channel = { id: 0, type: form.type, key, baseUrl, organization: '', other: '', setting: {}, siteId }
  return (await askForModels(parts.upstream, provider, channel)).map(({ name }) => name)
}

type Asked = Upstream & Pick<RunningChannel, 'siteId'>

async function askForModels(upstream: UpstreamAgents, provider: Provider, channel: Asked): Promise<ListedModel[]> {
  const url = provider.modelsUrl(channel)
  // The list of models needs the same authorization in every format of a provider.
  const [format] = Object.keys(provider.speaks) as Format[]
  if (url === null || format === undefined) return fail('channel_list_unsupported')

  const headers = withHeaderOverrides(channel, provider.headers(channel, format, {}))
  try {
    return readModelList(await callConfigured(upstream, { url, headers, proxy: channel.setting.proxy ?? '', ...limits }))
  } catch (error) {
    if (error instanceof CallFailure) return failed(error.text, error)
    throw error
  }
}

const name = z.string().min(1).max(255)
const withId = z.object({ id: name }).transform(({ id }) => id)
const withName = z.object({ name }).transform((model) => model.name.replace(/^models\//, ''))
const listing = z.union([
  z.object({ data: z.array(z.unknown()) }).transform(({ data }) => ({ entries: data, named: withId })),
  z.object({ models: z.array(z.unknown()) }).transform(({ models }) => ({ entries: models, named: withName })),
  z.array(z.unknown()).transform((entries) => ({ entries, named: withId })),
])

/** OpenAI's form `{ data: [{ id }] }`, Google's `{ models: [{ name: 'models/…' }] }`, or the bare array. Entries without a name are passed over. */
function readModelList({ status, body }: Reply): ListedModel[] {
  if (status < 200 || status > 299) failed({ zh: `上游返回状态码 ${status}`, en: `the upstream answered with status ${status}` })
  const list = listing.safeParse(parseJson(body))
  if (!list.success) return failed({ zh: '上游的回答不是模型列表', en: 'the answer is not a list of models' })
  const { entries, named } = list.data
  const models = entries.flatMap((entry): ListedModel[] => {
    const { data } = named.safeParse(entry)
    return data === undefined ? [] : [{ name: data, end: endInList(entry) }]
  })
  return [...new Map(models.map((model) => [model.name, model])).values()]
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

function failed(reason: Text, cause?: unknown): never {
  fail('channel_list_failed', { reason }, { cause })
}
