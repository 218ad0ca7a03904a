import { z } from 'zod'
import { awsEvent } from '../aws-event-stream.ts'
import { answerMessages, readMessages } from './anthropic.ts'
import { piecesOf, type Step, steps } from './scenario.ts'
import { Issued, type ModelTurn, requireShape, type Transcript, type UserTurn } from './transcript.ts'
import { refuse, type VendorReply, type VendorRequest, type VendorRules } from './vendor-server.ts'

/**
 * Bedrock: Claude by InvokeModel, Nova by Converse, both as event streams. Source: Bedrock API reference and types of
 * @aws-sdk/client-bedrock-runtime 3.1162, error texts in the wording of the vendor.
 */
export function bedrockRules(): VendorRules {
  const messages = new Issued('toolu_bdrk_01')
  const converse = new Issued('tooluse_')
  return {
    answer(request) {
      requireSignature(request)
      switch (request.path) {
        case `/model/${encodeURIComponent(claudeId)}/invoke-with-response-stream`:
          return answerInvoke(messages, request.body)
        case `/model/${encodeURIComponent(novaId)}/converse-stream`:
          return answerConverse(converse, request.body)
        default:
          return refuse(`The provided model identifier is invalid: ${request.path}`)
      }
    },
    refusalBody: ({ message, status }) => ({
      headers: { 'x-amzn-errortype': status === 403 ? 'AccessDeniedException' : 'ValidationException' },
      body: { message },
    }),
  }
}

const claudeId = 'global.anthropic.claude-sonnet-4-6'
const novaId = 'us.amazon.nova-2-lite-v1:0'

function requireSignature({ headers }: VendorRequest): void {
  const scope =
    /^AWS4-HMAC-SHA256 Credential=\S+\/\d{8}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=\S*host\S*, Signature=[0-9a-f]{64}$/
  if (!scope.test(headers.authorization ?? '')) refuse('Authorization header is invalid', 403)
  if (!/^\d{8}T\d{6}Z$/.test(String(headers['x-amz-date']))) refuse('Authorization header requires existence of x-amz-date', 403)
}

function answerInvoke(issued: Issued, json: unknown): VendorReply {
  const { body, thinks } = readMessages(json, { isHosted: true })
  if (body.anthropic_version !== 'bedrock-2023-05-31') refuse('anthropic_version: Input should be bedrock-2023-05-31')
  const { events } = answerMessages(issued, body, thinks)
  const metrics = { inputTokenCount: 1, outputTokenCount: 1, invocationLatency: 9, firstByteLatency: 3 }
  const native = events.map((event) =>
    event.type === 'message_stop' ? { ...event, 'amazon-bedrock-invocationMetrics': metrics } : event,
  )
  const pieces = native.map((event) =>
    awsEvent('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcdefgh' }),
  )
  return { contentType: 'application/vnd.amazon.eventstream', pieces }
}

const notBlank = z
  .string()
  .regex(/\S/, 'The text field in the ContentBlock object is blank. Add text to the text field, and try again.')
const text = z.strictObject({ text: notBlank })
const image = z.strictObject({
  image: z.strictObject({
    format: z.enum(['png', 'jpeg', 'gif', 'webp']),
    source: z.strictObject({ bytes: z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/) }),
  }),
})
const cachePoint = z.strictObject({
  cachePoint: z.strictObject({ type: z.literal('default'), ttl: z.enum(['5m', '1h']).optional() }),
})
const toolUseId = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/)
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/)
const toolUse = z.strictObject({
  toolUse: z.strictObject({ toolUseId, name: toolName, input: z.record(z.string(), z.unknown()) }),
})
const toolResult = z.strictObject({
  toolResult: z.strictObject({
    toolUseId,
    content: z.array(z.union([text, image, z.strictObject({ json: z.record(z.string(), z.unknown()) })])).min(1),
    status: z.enum(['success', 'error']).optional(),
  }),
})
const reasoning = z.strictObject({
  reasoningContent: z.strictObject({ reasoningText: z.strictObject({ text: z.string(), signature: z.string().optional() }) }),
})
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: z.array(z.union([text, image, toolResult, cachePoint])).min(1) }),
  z.strictObject({ role: z.literal('assistant'), content: z.array(z.union([text, toolUse, reasoning, cachePoint])).min(1) }),
])
const tool = z.strictObject({
  toolSpec: z.strictObject({
    name: toolName,
    description: z.string().min(1).optional(),
    inputSchema: z.strictObject({ json: z.looseObject({ type: z.literal('object') }) }),
    strict: z.boolean().optional(),
  }),
})
const bodyShape = z.strictObject({
  messages: z.array(message).min(1),
  system: z
    .array(z.union([text, cachePoint]))
    .min(1)
    .optional(),
  inferenceConfig: z
    .strictObject({
      maxTokens: z.int().min(1).max(65_535).optional(),
      temperature: z.number().min(0).max(1).optional(),
      topP: z.number().min(0).max(1).optional(),
      stopSequences: z.array(z.string().min(1)).max(4).optional(),
    })
    .optional(),
  toolConfig: z
    .strictObject({
      tools: z.array(tool).min(1),
      toolChoice: z
        .union([
          z.strictObject({ auto: z.strictObject({}) }),
          z.strictObject({ any: z.strictObject({}) }),
          z.strictObject({ tool: z.strictObject({ name: toolName }) }),
        ])
        .optional(),
    })
    .optional(),
  additionalModelRequestFields: z
    .strictObject({
      reasoningConfig: z
        .strictObject({ type: z.enum(['enabled', 'disabled']), maxReasoningEffort: z.enum(['low', 'medium', 'high']).optional() })
        .optional(),
      inferenceConfig: z.strictObject({ topK: z.int().min(1) }).optional(),
    })
    .optional(),
})

type ConverseBody = z.infer<typeof bodyShape>
type Block = ConverseBody['messages'][number]['content'][number]

function answerConverse(issued: Issued, json: unknown): VendorReply {
  const body = requireShape(bodyShape, json, ({ path, message, unknown }) =>
    unknown.length > 0
      ? `Malformed input request: #/${path.join('/')}: extraneous key [${unknown[0]}] is not permitted, please reformat your input and try again.`
      : `The value at ${path.join('.')} is invalid: ${message}`,
  )
  requireTurns(body)
  const at = issued.stepAsked(transcriptOf(body))
  const step = steps[at]
  if (!step) return refuse('the scenario is over')
  const answerTool = body.toolConfig?.tools.find(({ toolSpec }) => !['get_tide', 'get_wind'].includes(toolSpec.name))
  if (!answerTool) refuse('the scenario asks for an answer in JSON: no tool stands for it')
  if (body.additionalModelRequestFields?.reasoningConfig?.type !== 'enabled') refuse('the scenario asks for reasoning')
  const calls =
    step.calls.length > 0 ? step.calls : [{ name: answerTool?.toolSpec.name ?? '', input: JSON.parse(step.text) as object }]
  const ids = calls.map(() => issued.newId())
  issued.note(at, ids, [
    ...(step.text === '' ? [] : [{ text: step.text }]),
    ...calls.map(({ name, input }, place) => ({ toolUse: { toolUseId: ids[place], name, input } })),
  ])
  const spoken = step.calls.length > 0 ? step : { ...step, text: '' }
  return { contentType: 'application/vnd.amazon.eventstream', pieces: framesOf(spoken, calls, ids) }
}

/**
 * Turns must alternate and begin with the user; a turn must contain the results of all calls of the previous turn, and no others.
 */
function requireTurns({ messages, toolConfig }: ConverseBody): void {
  if (messages[0]?.role !== 'user')
    refuse('A conversation must start with a user message. Try again with a conversation that starts with a user message.')
  if (messages.at(-1)?.role !== 'user') refuse('The final message must be of the user in this scenario')
  for (const [at, { role, content }] of messages.entries()) {
    const before = messages[at - 1]
    if (before?.role === role)
      refuse('A conversation must alternate between user and assistant roles. Make sure the conversation alternates.')
    const calls = before && role === 'user' ? callIdsOf(before.content) : []
    const results = content.flatMap((block) => ('toolResult' in block ? [block.toolResult.toolUseId] : []))
    if (calls.some((id) => !results.includes(id))) {
      refuse(`Expected toolResult blocks at messages.${at}.content for the following Ids: ${calls.join(', ')}`)
    }
    if (results.some((id) => !calls.includes(id)) || new Set(results).size < results.length) {
      refuse(`The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`)
    }
    const usesTools = results.length > 0 || callIdsOf(content).length > 0
    if (usesTools && !toolConfig) refuse('The toolConfig field must be defined when using toolUse and toolResult content blocks.')
  }
  const names = toolConfig?.tools.map(({ toolSpec }) => toolSpec.name) ?? []
  if (new Set(names).size < names.length) refuse('The tools in toolConfig.tools must have unique names.')
}

function callIdsOf(content: readonly Block[]): string[] {
  return content.flatMap((block) => ('toolUse' in block ? [block.toolUse.toolUseId] : []))
}

function transcriptOf({ system = [], toolConfig, messages }: ConverseBody): Transcript {
  return {
    system: system.map((block) => ('text' in block ? block.text : '')).join('\n\n'),
    tools: toolConfig?.tools.map(({ toolSpec }) => toolSpec) ?? [],
    turns: messages.map(({ role, content }): UserTurn | ModelTurn => {
      const blocks = content.filter((block) => !('cachePoint' in block))
      if (role === 'user') return userTurn(blocks)
      // Nova keeps no state in its reasoning: it may be sent back or left out.
      return { role: 'model', callIds: callIdsOf(blocks), content: blocks.filter((block) => !('reasoningContent' in block)) }
    }),
  }
}

function userTurn(blocks: readonly Block[]): UserTurn {
  return {
    role: 'user',
    texts: blocks.flatMap((block) => ('text' in block ? [block.text] : [])),
    images: blocks.flatMap((block) =>
      'image' in block ? [{ mediaType: `image/${block.image.format}`, data: block.image.source.bytes }] : [],
    ),
    results: blocks.flatMap((block) =>
      'toolResult' in block ? [{ id: block.toolResult.toolUseId, text: resultText(block.toolResult.content) }] : [],
    ),
  }
}

function resultText(content: z.infer<typeof toolResult>['toolResult']['content']): string {
  return content
    .map((block) => ('text' in block ? block.text : 'json' in block ? JSON.stringify(block.json) : '[image]'))
    .join('\n')
}

function framesOf(step: Step, calls: readonly { name: string; input: object }[], ids: readonly string[]): Buffer[] {
  const { input, cached, output } = step.usage
  const usage = {
    inputTokens: input - cached,
    outputTokens: output,
    totalTokens: input + output,
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: 0,
  }
  const said = [
    piecesOf(step.thought).map((text) => ({ reasoningContent: { text } })),
    ...(step.text === '' ? [] : [piecesOf(step.text).map((text) => ({ text }))]),
  ]
  return [
    awsEvent('messageStart', { role: 'assistant', p: 'ab' }),
    ...said.flatMap((deltas, contentBlockIndex) => [
      ...deltas.map((delta) => awsEvent('contentBlockDelta', { contentBlockIndex, delta, p: 'abcd' })),
      awsEvent('contentBlockStop', { contentBlockIndex }),
    ]),
    ...calls.flatMap(({ name, input }, place) => {
      const contentBlockIndex = said.length + place
      return [
        awsEvent('contentBlockStart', { contentBlockIndex, start: { toolUse: { toolUseId: ids[place], name } } }),
        ...piecesOf(JSON.stringify(input)).map((piece) =>
          awsEvent('contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input: piece } } }),
        ),
        awsEvent('contentBlockStop', { contentBlockIndex }),
      ]
    }),
    awsEvent('messageStop', { stopReason: calls.length > 0 ? 'tool_use' : 'end_turn' }),
    awsEvent('metadata', { usage, metrics: { latencyMs: 12 } }),
  ]
}
