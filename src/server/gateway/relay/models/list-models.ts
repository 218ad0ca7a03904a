import { startOfDay } from '../../../../contract/model-ends.ts'
import { fail } from '../../../base/lib/failure.ts'
import { groupsToTry } from '../../../money/pricing/groups.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import { listedModels } from '../../channels/index/listed-models.ts'
import type { CallerFormat, Dialect } from '../../protocols/format.ts'
import { hasChannel } from '../admission/admit-request.ts'
import { authenticateCall, type CallerParts } from '../admission/authenticate.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { modelKind } from './probe.ts'

/** The parts that listing models uses. */
type ListParts = CallerParts & Pick<GatewayParts, 'catalog' | 'channels' | 'now' | 'priceBook'>

/** `GET /v1/models`: the models that this key can use, in the shape of the caller's dialect. */
export async function listModels(app: ListParts, call: ClientExchange): Promise<void> {
  const caller = await authenticateCall(app, { from: 'token' }, call)
  const groups = groupsToTry(app.options.current, caller)
  const names = usableModels(app, caller)
  const query = new URLSearchParams(call.request.url?.split('?')[1])
  const given = (name: string) => query.get(name) ?? ''
  if (call.dialect === 'anthropic') {
    const { rows, isCut } = partOf(names, { limit: given('limit'), after: given('after_id'), before: given('before_id') })
    sendJson(call, {
      data: rows.map((id) => anthropicModel(app, id)),
      has_more: isCut,
      first_id: rows[0] ?? null,
      last_id: rows.at(-1) ?? null,
    })
    return
  }
  if (call.dialect === 'gemini') {
    const { rows, isCut } = partOf(names, { limit: given('pageSize'), after: given('pageToken'), before: '' })
    sendJson(call, { models: rows.map((id) => geminiModel(app, id, groups)), ...(isCut ? { nextPageToken: rows.at(-1) } : {}) })
    return
  }
  sendJson(call, { success: true, object: 'list', data: names.map((id) => openAiModel(app, id)) })
}

/** One page of the sorted names, after or before a given one; all names without a limit. */
function partOf(names: readonly string[], { limit, after, before }: { limit: string; after: string; before: string }) {
  const open = names.filter((name) => (after === '' || name > after) && (before === '' || name < before))
  const count = /^[1-9]\d{0,3}$/.test(limit) ? Number(limit) : open.length
  const rows = before === '' ? open.slice(0, count) : open.slice(Math.max(0, open.length - count))
  return { rows, isCut: rows.length < open.length }
}

/** `GET /v1/models/{id}`. Throws `model_not_found` for a model that this key cannot use. */
export async function showModel(app: ListParts, call: ClientExchange, model: string): Promise<void> {
  const caller = await authenticateCall(app, { from: 'token' }, call)
  if (!usableModels(app, caller).includes(model)) fail('model_not_found', { model })
  const shapes: Partial<Record<Dialect, () => object>> = {
    anthropic: () => anthropicModel(app, model),
    gemini: () => geminiModel(app, model, groupsToTry(app.options.current, caller)),
  }
  sendJson(call, shapes[call.dialect]?.() ?? openAiModel(app, model))
}

/** The models that a caller may use. A call of a model without a price is refused unless the site or its user accepts that. */
function usableModels(app: Pick<GatewayParts, 'catalog' | 'channels' | 'options'>, caller: RelayCaller): string[] {
  const { catalog, options } = app
  const names = listedModels(app, groupsToTry(options.current, caller))
  const takesUnpriced = caller.acceptsUnpriced || options.current.SelfUseModeEnabled
  return names
    .filter((name) => caller.modelLimits === null || caller.modelLimits.has(name))
    .filter((name) => takesUnpriced || catalog.modelPriceOf(name) !== undefined)
}

/** SDKs require a number. This is the customary one, for models without a release date in their name or in the price data. */
const createdAt = 1_626_777_600

/** `shutdown_date` is OpenAI's own member, the day on which the model ends. */
function openAiModel({ channels, priceBook }: Pick<GatewayParts, 'channels' | 'priceBook'>, id: string) {
  const created = priceBook.current.releasedAt(id) ?? createdAt
  const end = channels.current.endOf(id)
  const more = end ? { shutdown_date: end.date } : {}
  return { id, object: 'model', created, owned_by: 'sluice', permission: [], root: id, parent: null, ...more }
}

function anthropicModel({ channels, now, priceBook }: Pick<GatewayParts, 'channels' | 'now' | 'priceBook'>, id: string) {
  const end = channels.current.endOf(id)
  const retiresMs = end && startOfDay(end.date)
  const lifecycle = retiresMs === undefined ? 'active' : retiresMs > now() ? 'deprecated' : 'retired'
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date((priceBook.current.releasedAt(id) ?? createdAt) * 1000).toISOString(),
    capabilities: null,
    deprecated_at: null,
    lifecycle,
    line: null,
    max_input_tokens: null,
    max_tokens: null,
    retires_at: retiresMs === undefined ? null : new Date(retiresMs).toISOString(),
  }
}

function geminiModel(app: Pick<GatewayParts, 'channels'>, id: string, groups: readonly string[]) {
  return {
    name: id.startsWith('tunedModels/') ? id : `models/${id}`,
    displayName: id,
    supportedGenerationMethods: methods.filter(({ suits, format }) => suits(app, id, groups, format)).map(({ method }) => method),
  }
}

/** The methods of the Gemini API that are offered here, each with a check for the models that have it. */
const methods: readonly {
  readonly method: string
  readonly format: CallerFormat
  readonly suits: (...model: [Pick<GatewayParts, 'channels'>, string, readonly string[], CallerFormat]) => boolean
}[] = [
  { method: 'generateContent', format: 'gemini.generate', suits: generates },
  { method: 'streamGenerateContent', format: 'gemini.generate', suits: generates },
  { method: 'countTokens', format: 'gemini.generate', suits: generates },
  { method: 'embedContent', format: 'gemini.embed', suits: embeds },
  { method: 'batchEmbedContents', format: 'gemini.batch_embed', suits: embeds },
  { method: 'predict', format: 'gemini.predict', suits: (_app, id) => /^imagen/.test(id) },
]

function generates(app: Pick<GatewayParts, 'channels'>, id: string, groups: readonly string[], format: CallerFormat): boolean {
  const kind = modelKind(id)
  if (kind === 'conversation') return isAnswered(app, { model: id, groups, format })
  // Gemini's own models generate images and speech with the same method.
  return kind === 'other' && /^gemini/.test(id) && isAnswered(app, { model: id, groups, format })
}

function embeds(app: Pick<GatewayParts, 'channels'>, id: string, groups: readonly string[], format: CallerFormat): boolean {
  return modelKind(id) === 'embeddings' && isAnswered(app, { model: id, groups, format })
}

function isAnswered(
  { channels }: Pick<GatewayParts, 'channels'>,
  asked: { model: string; groups: readonly string[]; format: CallerFormat },
): boolean {
  return asked.groups.some((group) => hasChannel(channels.current, group, asked))
}

function sendJson(call: ClientExchange, value: unknown): void {
  call.answer('application/json; charset=utf-8', Buffer.from(JSON.stringify(value)))
}
