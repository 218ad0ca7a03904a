import type { Text } from '../../../../contract/text.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { Inbound } from '../codec.ts'
import type { Dialogue, Reasoning, VendorOnlyTool } from '../dialogue.ts'
import { geminiOnly, refuse } from '../gemini-generate/read-contents.ts'
import { readGenerateRequest } from '../gemini-generate/request-read.ts'
import { readFlag } from '../read-request.ts'
import { asksForSomething } from '../unread-members.ts'
import { arrayAt, definedMembers, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { inputSteps } from './interaction-object.ts'
import { contentsOf } from './steps-read.ts'
import { unreadIn } from './unread.ts'

/**
 * An interaction in the neutral form: its steps and settings are those of generateContent under other names, so that the reader of
 * that format reads them. What needs the vendor's memory is refused; this server has put its own before the input. Throws
 * `field_invalid` and `untranslatable`. Source: types of the official SDK 3.1.
 */
export const readInteraction: Inbound['readRequest'] = (body) => {
  refuseVendorsOwn(body)
  const unread = unreadIn(body)
  const steps = inputSteps(body.input)
  if (!steps) return fail('field_invalid', { field: 'input', reason: 'must be a text, a part of content or a list' })
  if (steps.length === 0) return fail('field_invalid', { field: 'input', reason: 'must not be empty' })
  const config = objectAt(body, 'generation_config') ?? {}
  const tools = arrayAt(body, 'tools').filter(isObject)
  const system = body.system_instruction
  const generate = definedMembers({
    contents: contentsOf(steps),
    systemInstruction: system,
    tools: tools.map(asGroup),
    toolConfig: choiceOf(config.tool_choice),
    generationConfig: definedMembers({
      temperature: config.temperature,
      topP: config.top_p,
      seed: config.seed,
      stopSequences: config.stop_sequences,
      maxOutputTokens: config.max_output_tokens,
      ...formOf(body),
    }),
  })
  const model = textAt(body, 'model').replace(/^models\//, '')
  const { vendorOnly, ...dialogue } = readGenerateRequest(generate, { model, stream: readFlag(body, 'stream') })
  return {
    ...dialogue,
    ...(vendorOnly ? { vendorOnly: vendorOnly.map(ownName) } : {}),
    from: 'gemini.interactions',
    reasoning: readThinking(config),
    extra: readExtra(body),
    ...unread.names,
  }
}

const notKept: Text = {
  zh: '该模型的渠道不保存交互，请发送完整的 input',
  en: 'interactions are not kept for this model; send the whole input',
}

function refuseVendorsOwn(body: JsonObject): void {
  if (asksForSomething(body.previous_interaction_id) && body.previous_interaction_id !== '')
    refuse('previous_interaction_id', notKept)
  if (readFlag(body, 'background')) refuse('background', notKept)
  for (const member of ['agent', 'environment', 'continuation_token', 'cached_content'] as const)
    if (asksForSomething(body[member])) refuse(member, geminiOnly)
}

/** A function, the web search, or a tool that only Google runs, as a group of generateContent. */
function asGroup(tool: JsonObject): JsonObject {
  const type = textAt(tool, 'type')
  if (type === 'function') {
    const { name, description, parameters } = tool
    return { functionDeclarations: [definedMembers({ name, description, parametersJsonSchema: parameters })] }
  }
  return { [type === 'google_search' ? 'googleSearch' : type]: {} }
}

function ownName({ name, ...tool }: VendorOnlyTool): VendorOnlyTool {
  const own = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return { ...tool, field: own, name: own }
}

/** The choice of a tool by its kind, or among some tools. */
function choiceOf(choice: unknown): JsonObject | undefined {
  if (typeof choice === 'string') return { functionCallingConfig: { mode: choice.toUpperCase() } }
  const allowed = isObject(choice) ? objectAt(choice, 'allowed_tools') : undefined
  if (!allowed) return undefined
  const mode = textAt(allowed, 'mode').toUpperCase()
  // Only these modes take names.
  const named = mode === 'ANY' ? 'ANY' : mode === 'NONE' ? 'NONE' : 'VALIDATED'
  return { functionCallingConfig: { mode: named, allowedFunctionNames: arrayAt(allowed, 'tools') } }
}

/** The form of the answer: text, or JSON by a schema. Every other form is refused. */
function formOf(body: JsonObject): JsonObject {
  const forms = [body.response_format].flat().filter(isObject)
  const modalities = arrayAt(body, 'response_modalities').map((modality) => String(modality).toLowerCase())
  if (modalities.some((modality) => modality !== 'text')) refuse('response_modalities', geminiOnly)
  const [form, ...more] = forms
  if (more.length > 0 || (form && form.type !== undefined && form.type !== 'text')) {
    const isSchema = form !== undefined && more.length === 0 && (form.type === 'object' || isObject(form.properties))
    // Before May 2026 the member was the schema itself.
    if (isSchema) return { responseMimeType: 'application/json', responseJsonSchema: form }
    refuse('response_format', geminiOnly)
  }
  return definedMembers({
    responseMimeType: form?.mime_type ?? body.response_mime_type,
    responseJsonSchema: form ? objectAt(form, 'schema') : undefined,
  })
}

const efforts: ReadonlyMap<string, Reasoning['mode']> = new Map<string, Reasoning['mode']>(
  (['minimal', 'low', 'medium', 'high', 'xhigh'] as const).map((effort) => [effort, { effort }]),
)

/** Summaries of thoughts are shown on request. */
function readThinking(config: JsonObject): Reasoning | undefined {
  const level = textAt(config, 'thinking_level').toLowerCase()
  const summaries = textAt(config, 'thinking_summaries')
  if (level === '' && summaries === '') return undefined
  return { mode: efforts.get(level) ?? 'auto', show: summaries === 'auto' ? 'summary' : 'none' }
}

/** Members that only Gemini has, so that writers of other formats can report them. */
function readExtra(body: JsonObject): Dialogue['extra'] {
  return Object.fromEntries(Object.entries(body).filter(([name, value]) => !readMembers.has(name) && asksForSomething(value)))
}

const readMembers: ReadonlySet<string> = new Set([
  ...['model', 'input', 'system_instruction', 'tools', 'generation_config', 'previous_interaction_id', 'store', 'background'],
  ...['stream', 'agent', 'environment', 'continuation_token', 'cached_content'],
  ...['response_format', 'response_mime_type', 'response_modalities'],
])
