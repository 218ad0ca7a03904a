import { fail } from '../../../base/lib/failure.ts'
import type { Dialogue, OutputForm, Sampling, Search, TextPart, Tool, ToolChoice, VendorOnlyTool } from '../dialogue.ts'
import { requireArray } from '../read-request.ts'
import { definedMembers, isObject, type JsonObject, type PathFacts } from '../wire-format.ts'
import { camelCase, either, eitherList, eitherObject, eitherText, toolGroups } from './members.ts'
import { readOpenApiSchema } from './openapi-schema.ts'
import { geminiOnly, readTurns, refuse } from './read-contents.ts'
import { readThinking } from './thinking.ts'
import { unreadIn } from './unread.ts'

/**
 * A generateContent request in the neutral form. Members may be in camel case or snake case. Throws `field_invalid` for invalid
 * members, `untranslatable` for features that only Gemini has. Source: protocols notes 1.13 and 3.15.
 */
export function readGenerateRequest(body: JsonObject, path: PathFacts): Dialogue {
  const contents = requireArray(body, 'contents')
  const config = eitherObject(body, 'generationConfig') ?? {}
  const unread = unreadIn(body)
  const { tools, ...others } = readTools(toolGroups(body))
  const thinking = eitherObject(config, 'thinkingConfig')
  refuseGooglesOwn(body, ['cachedContent', 'continuationToken'], '')
  refuseGooglesOwn(config, ['speechConfig', 'imageConfig'], 'generationConfig.')
  refuseOtherAnswers(config)

  return {
    from: 'gemini.generate',
    model: path.model ?? (eitherText(body, 'model') || fail('model_required')),
    system: readSystem(either(body, 'systemInstruction')),
    turns: readTurns(contents, unread),
    tools,
    toolChoice: tools.length === 0 ? undefined : readChoice(callingConfig(body)),
    parallelTools: undefined,
    sampling: readSampling(config),
    outputTokensMax: numberIn(config, 'maxOutputTokens'),
    stop: eitherList(config, 'stopSequences').filter((stop): stop is string => typeof stop === 'string' && stop !== ''),
    reasoning: thinking
      ? readThinking(
          eitherText(thinking, 'thinkingLevel'),
          either(thinking, 'thinkingBudget'),
          either(thinking, 'includeThoughts'),
        )
      : undefined,
    output: readOutput(config),
    ...readLogprobsAsked(config),
    ...others,
    stream: path.stream ?? false,
    wantsUsage: true,
    usesFunctions: false,
    user: undefined,
    cacheKey: undefined,
    extra: readExtra(body, config),
    ...unread.names,
  }
}

function readSystem(instruction: unknown): TextPart[] {
  if (instruction === undefined || instruction === null) return []
  if (typeof instruction === 'string') return [{ kind: 'text', text: instruction }]
  const parts = isObject(instruction) ? eitherList(instruction, 'parts').filter(isObject) : []
  return parts.map((part) => {
    if (typeof part.text !== 'string') return refuse('systemInstruction', onlyText)
    return { kind: 'text', text: part.text }
  })
}

const onlyText = { zh: '系统指令只能是文本', en: 'system instructions must be text' }

/** Functions are declared in groups, next to Google's own tools, of which only the web search exists in other formats. */
function readTools(groups: readonly JsonObject[]): Pick<Dialogue, 'tools' | 'search' | 'vendorOnly'> {
  const tools: Tool[] = []
  const vendorOnly: VendorOnlyTool[] = []
  let search: Search | undefined
  for (const group of groups) {
    for (const [member, value] of Object.entries(group)) {
      const kind = camelCase(member)
      if (kind === 'functionDeclarations') tools.push(...eitherList(group, kind).filter(isObject).map(readTool))
      else if (kind === 'googleSearch' || kind === 'googleSearchRetrieval')
        search = { contextSize: undefined, location: undefined }
      else if (value !== undefined && value !== null) {
        const name = `tools.${kind}`
        vendorOnly.push({ field: name, name, reason: geminiOnly })
      }
    }
  }
  return { tools, search, ...(vendorOnly.length > 0 ? { vendorOnly } : {}) }
}

function readTool(declared: JsonObject): Tool {
  const schema = eitherObject(declared, 'parametersJsonSchema')
  const openApi = eitherObject(declared, 'parameters')
  return {
    name:
      eitherText(declared, 'name') || fail('field_invalid', { field: 'tools.functionDeclarations.name', reason: 'is required' }),
    description: eitherText(declared, 'description') || undefined,
    schema: schema ?? (openApi && readOpenApiSchema(openApi)),
    strict: undefined,
    custom: undefined,
  }
}

function callingConfig(body: JsonObject): JsonObject {
  return eitherObject(eitherObject(body, 'toolConfig') ?? {}, 'functionCallingConfig') ?? {}
}

function readChoice(config: JsonObject): ToolChoice | undefined {
  const names = eitherList(config, 'allowedFunctionNames').filter((name): name is string => typeof name === 'string')
  const [only] = names
  switch (eitherText(config, 'mode').toUpperCase()) {
    case 'NONE':
      return { kind: 'none' }
    case 'ANY':
      if (only === undefined) return { kind: 'required' }
      return names.length === 1 ? { kind: 'tool', name: only } : { kind: 'allowed', names, isRequired: true }
    case 'VALIDATED':
      return only === undefined ? { kind: 'auto' } : { kind: 'allowed', names, isRequired: false }
    case 'AUTO':
      return { kind: 'auto' }
    default:
      return undefined
  }
}

function readSampling(config: JsonObject): Sampling {
  const read = {
    temperature: numberIn(config, 'temperature'),
    topP: numberIn(config, 'topP'),
    topK: numberIn(config, 'topK'),
    presencePenalty: numberIn(config, 'presencePenalty'),
    frequencyPenalty: numberIn(config, 'frequencyPenalty'),
    seed: numberIn(config, 'seed'),
  }
  return definedMembers(read)
}

function readLogprobsAsked(config: JsonObject): Pick<Dialogue, 'logprobs'> {
  return either(config, 'responseLogprobs') === true ? { logprobs: { top: numberIn(config, 'logprobs') ?? 0 } } : {}
}

function readOutput(config: JsonObject): OutputForm | undefined {
  const jsonSchema = eitherObject(config, 'responseJsonSchema')
  const openApi = eitherObject(config, 'responseSchema')
  const schema = jsonSchema ?? (openApi && readOpenApiSchema(openApi))
  if (schema) return { kind: 'schema', name: undefined, description: undefined, schema, strict: undefined }
  return eitherText(config, 'responseMimeType') === 'application/json' ? { kind: 'json' } : undefined
}

/** Settings for forms of the answer that no other vendor supports. */
function refuseOtherAnswers(config: JsonObject): void {
  const candidates = either(config, 'candidateCount')
  if (typeof candidates === 'number' && candidates > 1) refuse('generationConfig.candidateCount', oneAnswer)
  const modalities = eitherList(config, 'responseModalities')
  if (modalities.some((modality) => modality !== 'TEXT')) refuse('generationConfig.responseModalities', geminiOnly)
  const type = eitherText(config, 'responseMimeType')
  if (!['', 'text/plain', 'application/json'].includes(type)) refuse('generationConfig.responseMimeType', geminiOnly)
}

const oneAnswer = { zh: '只能有一个候选回答', en: 'only one candidate can be had' }

function refuseGooglesOwn(value: JsonObject, members: readonly string[], prefix: string): void {
  for (const member of members) {
    const asked = either(value, member)
    if (asked !== undefined && asked !== null && asked !== false) refuse(`${prefix}${member}`, geminiOnly)
  }
}

/** Members that only Gemini supports, by their paths, so that writers of other formats can report them. */
function readExtra(body: JsonObject, config: JsonObject): Record<string, unknown> {
  const members = (value: JsonObject, known: ReadonlySet<string>, prefix: string) =>
    Object.entries(value)
      .map(([key, member]) => [camelCase(key), member] as const)
      .filter(([key, member]) => !known.has(key) && member !== undefined && member !== null)
      .map(([key, member]) => [`${prefix}${key}`, member])
  const toolConfig = eitherObject(body, 'toolConfig') ?? {}
  return Object.fromEntries([
    ...members(body, knownMembers, ''),
    ...members(config, knownConfig, 'generationConfig.'),
    ...members(toolConfig, new Set(['functionCallingConfig']), 'toolConfig.'),
  ])
}

const knownMembers = new Set(['model', 'contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'])
const knownConfig = new Set(
  [
    'temperature topP topK presencePenalty frequencyPenalty seed candidateCount maxOutputTokens stopSequences thinkingConfig',
    'responseMimeType responseSchema responseJsonSchema responseModalities speechConfig imageConfig responseLogprobs logprobs',
  ].flatMap((line) => line.split(' ')),
)

function numberIn(value: JsonObject, key: string): number | undefined {
  const member = either(value, key)
  if (member === undefined || member === null) return undefined
  if (typeof member !== 'number' || !Number.isFinite(member))
    fail('field_invalid', { field: `generationConfig.${key}`, reason: 'must be a number' })
  return member
}
