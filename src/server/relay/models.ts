import { listedModels } from '../channels/listed-models.ts'
import { fail } from '../lib/failure.ts'
import { groupsToTry } from '../pricing/groups.ts'
import type { Dialect } from '../protocols/format.ts'
import type { RelayCaller } from '../tokens/authenticate.ts'
import type { Call } from './call.ts'
import { authenticateCall } from './identify.ts'
import type { RelayParts } from './relay-parts.ts'

/** `GET /v1/models`: the models that this key can use, in the shape of the caller's dialect. */
export async function listModels(app: RelayParts, call: Call): Promise<void> {
  const caller = await authenticateCall(app, { from: 'token' }, call)
  const names = usableModels(app, caller)
  const query = new URLSearchParams(call.request.url?.split('?')[1])
  const given = (name: string) => query.get(name) ?? ''
  if (call.dialect === 'anthropic') {
    const { rows, isCut } = partOf(names, { limit: given('limit'), after: given('after_id'), before: given('before_id') })
    sendJson(call, { data: rows.map(anthropicModel), has_more: isCut, first_id: rows[0] ?? null, last_id: rows.at(-1) ?? null })
    return
  }
  if (call.dialect === 'gemini') {
    const { rows, isCut } = partOf(names, { limit: given('pageSize'), after: given('pageToken'), before: '' })
    sendJson(call, { models: rows.map(geminiModel), ...(isCut ? { nextPageToken: rows.at(-1) } : {}) })
    return
  }
  sendJson(call, { success: true, object: 'list', data: names.map(openAiModel) })
}

/** As many sorted names as are asked for, behind one or right before one; all of them where nobody asks for fewer. */
function partOf(names: readonly string[], { limit, after, before }: { limit: string; after: string; before: string }) {
  const open = names.filter((name) => (after === '' || name > after) && (before === '' || name < before))
  const count = /^[1-9]\d{0,3}$/.test(limit) ? Number(limit) : open.length
  const rows = before === '' ? open.slice(0, count) : open.slice(Math.max(0, open.length - count))
  return { rows, isCut: rows.length < open.length }
}

/** `GET /v1/models/{id}`. Throws `model_not_found` for a model that this key cannot use. */
export async function showModel(app: RelayParts, call: Call, model: string): Promise<void> {
  const caller = await authenticateCall(app, { from: 'token' }, call)
  if (!usableModels(app, caller).includes(model)) fail('model_not_found', { model })
  const shapes: Partial<Record<Dialect, (id: string) => object>> = { anthropic: anthropicModel, gemini: geminiModel }
  sendJson(call, (shapes[call.dialect] ?? openAiModel)(model))
}

function usableModels(app: RelayParts, caller: RelayCaller): string[] {
  const names = listedModels(app, groupsToTry(app.options.current, caller))
  return names.filter((name) => caller.modelLimits === null || caller.modelLimits.has(name))
}

/** The release date of a model is not known here; SDKs need a number, and the accustomed one is kept. */
const createdAt = 1_626_777_600

function openAiModel(id: string) {
  return { id, object: 'model', created: createdAt, owned_by: 'sluice' }
}

function anthropicModel(id: string) {
  return {
    type: 'model',
    id,
    display_name: id,
    created_at: new Date(createdAt * 1000).toISOString(),
    capabilities: null,
    deprecated_at: null,
    lifecycle: 'active',
    line: null,
    max_input_tokens: null,
    max_tokens: null,
    retires_at: null,
  }
}

function geminiModel(id: string) {
  return {
    name: id.startsWith('tunedModels/') ? id : `models/${id}`,
    displayName: id,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent'],
  }
}

function sendJson(call: Call, value: unknown): void {
  call.answer('application/json; charset=utf-8', Buffer.from(JSON.stringify(value)))
}
