import { z } from 'zod'
import { faultOfSchema } from './json-schemas.ts'
import { piecesOf, type Step, steps } from './scenario.ts'
import { Issued, type ModelTurn, requireShape, type Transcript, type UserTurn } from './transcript.ts'
import { refuse, type VendorReply, type VendorRequest, type VendorRules } from './vendor-server.ts'

/**
 * Gemini 3 Pro. Source: API reference, "Thought signatures", types of @google/genai 2.32, error texts in the wording of the vendor.
 */
export function geminiRules(): VendorRules {
  const issued = new Issued('fc')
  return {
    answer: (request) => answerGemini(issued, request),
    refusalBody: ({ message, status }) => ({
      body: { error: { code: status, message, status: status === 404 ? 'NOT_FOUND' : 'INVALID_ARGUMENT' } },
    }),
  }
}

function answerGemini(issued: Issued, { path, query, headers, body: json }: VendorRequest): VendorReply {
  if (path !== '/v1beta/models/gemini-3-pro-preview:streamGenerateContent') refuse(`${path} is not found`, 404)
  if (query.get('alt') !== 'sse') refuse('the agents of this scenario read events')
  if (!headers['x-goog-api-key']) refuse("Method doesn't allow unregistered callers", 403)
  const body = requireShape(bodyShape, json, ({ path, message, unknown }) =>
    unknown.length > 0
      ? `Invalid JSON payload received. Unknown name "${unknown[0]}" at '${path.join('.')}': Cannot find field.`
      : `Invalid value at '${path.join('.')}': ${message}`,
  )
  requireSchemas(body)
  const contents = mergedContents(body)
  requireTurns(contents)
  const at = issued.stepAsked(transcriptOf(body, contents))
  const step = steps[at]
  if (!step) return refuse('the scenario is over')
  const { responseMimeType, responseSchema, responseJsonSchema, thinkingConfig } = body.generationConfig ?? {}
  if (responseMimeType !== 'application/json' || (responseSchema ?? responseJsonSchema) === undefined) {
    refuse('the scenario asks for an answer in JSON: responseMimeType or the schema is missing')
  }
  const ids = step.calls.map(() => issued.newId())
  const signature = Buffer.from(`${at} ${ids.join(' ')} ${step.thought}`).toString('base64')
  issued.note(at, ids, [
    ...(step.text === '' ? [] : [{ text: step.text }]),
    ...step.calls.map(({ name, input }, place) => ({
      functionCall: { id: ids[place], name, args: input },
      ...(place === 0 ? { thoughtSignature: signature } : {}),
    })),
  ])
  const chunks = chunksOf(step, ids, signature, thinkingConfig?.includeThoughts === true)
  return { contentType: 'text/event-stream', pieces: chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`) }
}

const base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/, 'Base64 decoding failed')
const functionName = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/, 'Invalid function name')
const part = z
  .strictObject({
    text: z.string().optional(),
    inlineData: z
      .strictObject({ mimeType: z.enum(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif']), data: base64 })
      .optional(),
    functionCall: z
      .strictObject({ id: z.string().optional(), name: functionName, args: z.record(z.string(), z.unknown()).optional() })
      .optional(),
    functionResponse: z
      .strictObject({ id: z.string().optional(), name: functionName, response: z.record(z.string(), z.unknown()) })
      .optional(),
    thought: z.boolean().optional(),
    thoughtSignature: base64.optional(),
    mediaResolution: z.strictObject({ level: z.string() }).optional(),
  })
  .refine(
    ({ text, inlineData, functionCall, functionResponse }) =>
      [text, inlineData, functionCall, functionResponse].filter((member) => member !== undefined).length === 1,
    "oneof field 'data' is already set, or required oneof field 'data' must have one initialized field",
  )
const content = z.strictObject({ role: z.enum(['user', 'model']), parts: z.array(part).min(1) })
const declaration = z.strictObject({
  name: functionName,
  description: z.string().optional(),
  parameters: z.unknown().optional(),
  parametersJsonSchema: z.unknown().optional(),
})
const bodyShape = z.strictObject({
  contents: z.array(content).min(1),
  systemInstruction: z
    .strictObject({ role: z.string().optional(), parts: z.array(z.strictObject({ text: z.string().min(1) })).min(1) })
    .optional(),
  tools: z.array(z.strictObject({ functionDeclarations: z.array(declaration).min(1) })).optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({
        mode: z.enum(['AUTO', 'ANY', 'NONE', 'VALIDATED']),
        allowedFunctionNames: z.array(z.string()).optional(),
      }),
    })
    .optional(),
  safetySettings: z.array(z.strictObject({ category: z.string(), threshold: z.string() })).optional(),
  generationConfig: z
    .strictObject({
      temperature: z.number().min(0).max(2).optional(),
      topP: z.number().min(0).max(1).optional(),
      topK: z.number().optional(),
      candidateCount: z.literal(1).optional(),
      maxOutputTokens: z.int().min(1).max(65_536).optional(),
      stopSequences: z.array(z.string().min(1)).max(5).optional(),
      seed: z.int().optional(),
      responseMimeType: z.enum(['text/plain', 'application/json']).optional(),
      responseSchema: z.unknown().optional(),
      responseJsonSchema: z.unknown().optional(),
      thinkingConfig: z
        .strictObject({
          includeThoughts: z.boolean().optional(),
          thinkingBudget: z.int().optional(),
          thinkingLevel: z.enum(['LOW', 'HIGH', 'low', 'high']).optional(),
        })
        .optional(),
    })
    .optional(),
})

type GeminiBody = z.infer<typeof bodyShape>
type Part = z.infer<typeof part>

function requireSchemas({ tools = [], toolConfig, generationConfig }: GeminiBody): void {
  const declared = tools.flatMap(({ functionDeclarations }) => functionDeclarations)
  if (tools.length > 1) refuse('Multiple tools are supported only when they are all search tools.')
  for (const { name, parameters, parametersJsonSchema } of declared) {
    if (parameters !== undefined && parametersJsonSchema !== undefined)
      refuse(`${name}: parameters and parametersJsonSchema exclude each other`)
    const fault =
      parameters !== undefined
        ? faultOfSchema(parameters, 'gemini-openapi', 'parameters')
        : parametersJsonSchema !== undefined
          ? faultOfSchema(parametersJsonSchema, 'gemini-json', 'parametersJsonSchema')
          : undefined
    if (fault) refuse(`GenerateContentRequest.tools[0].function_declarations[${name}].${fault}`)
  }
  const unknown = toolConfig?.functionCallingConfig.allowedFunctionNames?.find(
    (name) => !declared.some((tool) => tool.name === name),
  )
  if (unknown !== undefined) refuse(`allowed_function_names: ${unknown} is not declared`)
  const { responseSchema, responseJsonSchema, responseMimeType, thinkingConfig } = generationConfig ?? {}
  if (responseSchema !== undefined && responseJsonSchema !== undefined)
    refuse('response_schema and response_json_schema exclude each other')
  const fault =
    responseSchema !== undefined
      ? faultOfSchema(responseSchema, 'gemini-openapi', 'response_schema')
      : responseJsonSchema !== undefined
        ? faultOfSchema(responseJsonSchema, 'gemini-json', 'response_json_schema')
        : undefined
  if (fault) refuse(`GenerateContentRequest.generation_config.${fault}`)
  if ((responseSchema ?? responseJsonSchema) !== undefined && responseMimeType !== 'application/json') {
    refuse('response_schema requires response_mime_type application/json')
  }
  if (thinkingConfig?.thinkingBudget !== undefined && thinkingConfig.thinkingLevel !== undefined) {
    refuse('You can only set only one of thinking budget and thinking level.')
  }
}

type Content = z.infer<typeof content>

/** Adjacent contents of one role are one turn for the vendor: its own chats send a turn in the chunks in which it was streamed. */
function mergedContents({ contents }: GeminiBody): Content[] {
  const merged: Content[] = []
  for (const { role, parts } of contents) {
    const last = merged.at(-1)
    if (last?.role === role) merged[merged.length - 1] = { role, parts: [...last.parts, ...parts] }
    else merged.push({ role, parts })
  }
  return merged
}

function requireTurns(contents: readonly Content[]): void {
  for (const [at, { role, parts }] of contents.entries()) {
    const before = contents[at - 1]
    const calls = parts.filter(({ functionCall }) => functionCall)
    const responses = parts.flatMap(({ functionResponse }) => (functionResponse ? [functionResponse] : []))
    if (calls.length > 0 && (role !== 'model' || before?.role !== 'user')) {
      refuse('Please ensure that function call turn comes immediately after a user turn or after a function response turn.')
    }
    const owed = before?.role === 'model' ? before.parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : [])) : []
    if (responses.length > 0 && owed.length === 0) {
      refuse('Please ensure that function response turn comes immediately after a function call turn.')
    }
    if (responses.length !== owed.length) {
      refuse(
        'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
      )
    }
    const stray = responses.find(({ id, name }) => !owed.some((call) => call.id === id && call.name === name))
    if (stray) refuse(`The function response ${stray.name} (${stray.id}) has no call of that id and name.`)
    if (calls.length > 0 && calls[0]?.thoughtSignature === undefined) {
      refuse(
        'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. ' +
          `Additional data, function call \`default_api:${calls[0]?.functionCall?.name}\`, position ${at + 1}.`,
      )
    }
  }
  if (contents.at(-1)?.role !== 'user')
    refuse('Please ensure that multiturn requests ends with a user role or a function response.')
}

function transcriptOf({ systemInstruction, tools = [] }: GeminiBody, contents: readonly Content[]): Transcript {
  return {
    system: systemInstruction?.parts.map(({ text }) => text).join('\n\n') ?? '',
    tools: tools.flatMap(({ functionDeclarations }) => functionDeclarations),
    turns: contents.map(({ role, parts }): UserTurn | ModelTurn => {
      if (role === 'user') return userTurn(parts)
      const callIds = parts.flatMap(({ functionCall }) => (functionCall?.id === undefined ? [] : [functionCall.id]))
      // Thoughts may be sent back or left out; a text may be sent back in the chunks in which it was streamed.
      const said = parts.filter(({ thought, text }) => !thought && text !== '')
      return { role: 'model', callIds, content: withJoinedTexts(said) }
    }),
  }
}

function withJoinedTexts(parts: readonly Part[]): Part[] {
  const joined: Part[] = []
  for (const { thought: _, ...part } of parts) {
    const last = joined.at(-1)
    if (part.text !== undefined && last?.text !== undefined)
      joined[joined.length - 1] = { ...last, ...part, text: last.text + part.text }
    else joined.push(part)
  }
  return joined
}

function userTurn(parts: readonly Part[]): UserTurn {
  return {
    role: 'user',
    texts: parts.flatMap(({ text }) => (text === undefined ? [] : [text])),
    images: parts.flatMap(({ inlineData }) => (inlineData ? [{ mediaType: inlineData.mimeType, data: inlineData.data }] : [])),
    results: parts.flatMap(({ functionResponse }) =>
      functionResponse
        ? [{ id: functionResponse.id ?? '', name: functionResponse.name, text: resultText(functionResponse) }]
        : [],
    ),
  }
}

/** A text result must be in a member; an object may be sent directly. Some agents add the name of the function. */
function resultText({ name, response }: NonNullable<Part['functionResponse']>): string {
  const { name: named, ...said } = response
  const plain = named === name ? said : response
  const [only, ...more] = Object.keys(plain)
  const text = more.length === 0 && ['result', 'output', 'content'].includes(only ?? '') ? plain[only ?? ''] : undefined
  return typeof text === 'string' ? text : JSON.stringify(text ?? response)
}

function chunksOf(step: Step, ids: readonly string[], signature: string, showsThoughts: boolean): object[] {
  const { input, cached, output, reasoning } = step.usage
  const usage = (candidatesTokenCount: number) => ({
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + candidatesTokenCount + reasoning,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: input - 258 },
      { modality: 'IMAGE', tokenCount: 258 },
    ],
  })
  const chunk = (parts: readonly object[], more: object = {}, tokens = 1) => ({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    usageMetadata: usage(tokens),
    modelVersion: 'gemini-3-pro-preview',
    responseId: 'harbor',
  })
  const calls = step.calls.map(({ name, input }, place) => ({
    functionCall: { id: ids[place], name, args: input },
    ...(place === 0 ? { thoughtSignature: signature } : {}),
  }))
  const last = step.calls.length > 0 ? [{ text: '' }] : [{ text: '', thoughtSignature: signature }]
  return [
    ...(showsThoughts ? piecesOf(step.thought, 16).map((text) => chunk([{ text, thought: true }])) : []),
    ...piecesOf(step.text, 16).map((text) => chunk([{ text }])),
    // Parallel calls are sent in one chunk or in several.
    ...calls.map((call) => chunk([call])),
    chunk(last, { finishReason: 'STOP' }, output - reasoning),
  ]
}
