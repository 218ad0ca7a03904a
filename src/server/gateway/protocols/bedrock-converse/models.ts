import { isClaude, type ModelRules, rulesOf } from '../anthropic-messages/models.ts'

/**
 * What a model behind Converse requires and rejects. Requests are written accordingly, because Bedrock would return 400. Source:
 * Amazon Bedrock User Guide, "Supported models and model features", "Prompt caching" and "Structured output", types of
 * `@aws-sdk/client-bedrock-runtime` 3.1162, and errors that callers of other adapters have reported, read 2026-11.
 */
export interface ConverseRules {
  /** For Claude models: the vendor's own table. */
  readonly claude: ModelRules | undefined
  /** The strictest tool choice that the model supports; `none`: no tools at all. */
  readonly tools: 'none' | 'auto' | 'any' | 'tool'
  /** Whether the model supports streaming with tools. */
  readonly streamsTools: boolean
  readonly takesSystem: boolean
  readonly takesImages: boolean
  readonly takesDocuments: boolean
  readonly takesVideo: boolean
  /** Whether a tool result may be marked as an error. */
  readonly takesResultStatus: boolean
  /** Where cache points are valid. */
  readonly cache: 'nowhere' | 'not-in-tools' | 'everywhere'
  /** Whether a cache lifetime of an hour is supported. */
  readonly cachesAnHour: boolean
  /** Whether a JSON schema can be enforced for answers and tool inputs. */
  readonly takesSchemas: boolean
  /** Whether the answer may be prefilled by a last assistant message. */
  readonly takesPrefill: boolean
  /** The model's own member that requests reasoning; undefined when it has none. */
  readonly reasoning: 'reasoning_effort' | 'reasoningConfig' | undefined
  /** The name of `top_k` among the model's own members; undefined when it has none. */
  readonly topK: 'top_k' | 'k' | 'inferenceConfig.topK' | undefined
  readonly stopMax: number
  /** The only form of call ids that the model accepts. */
  readonly callIds: 'anthropic' | 'nine-alphanumerics'
}

/** Unknown models: only what nearly all models support. */
const unknown: ConverseRules = {
  claude: undefined,
  tools: 'auto',
  streamsTools: true,
  takesSystem: true,
  takesImages: true,
  takesDocuments: true,
  takesVideo: true,
  takesResultStatus: false,
  cache: 'nowhere',
  cachesAnHour: false,
  takesSchemas: false,
  takesPrefill: false,
  reasoning: undefined,
  topK: undefined,
  stopMax: 4,
  callIds: 'anthropic',
}

const textOnly = { takesImages: false, takesVideo: false } as const
const simple = { ...unknown, ...textOnly, tools: 'none' } as const
const nova: ConverseRules = {
  ...unknown,
  tools: 'tool',
  takesResultStatus: true,
  cache: 'not-in-tools',
  takesPrefill: true,
  topK: 'inferenceConfig.topK',
}
const llama: ConverseRules = { ...unknown, ...textOnly, streamsTools: false, stopMax: 0 }
const mistral: ConverseRules = { ...unknown, takesVideo: false, topK: 'top_k', stopMax: 10, callIds: 'nine-alphanumerics' }
const openWeights: ConverseRules = { ...unknown, takesVideo: false, takesSchemas: true }

/** The first row whose pattern matches the name applies. */
const rows: readonly (readonly [RegExp, ConverseRules])[] = [
  [/nova-micro/, { ...nova, ...textOnly, takesDocuments: false }],
  [/nova-2/, { ...nova, reasoning: 'reasoningConfig' }],
  [/nova/, nova],
  [/titan-text-premier/, { ...simple, takesSystem: false, takesDocuments: false }],
  [/titan/, { ...simple, takesSystem: false }],
  [/ai21\.jamba-instruct/, { ...simple, takesDocuments: false }],
  [/ai21/, { ...unknown, ...textOnly }],
  [/cohere\.command-(r|a)/, { ...unknown, ...textOnly, topK: 'k' }],
  [/cohere/, { ...simple, takesSystem: false }],
  [/deepseek\.r1/, simple],
  [/deepseek/, { ...openWeights, ...textOnly }],
  [/meta\.llama(2|3-(8|70)b)/, { ...simple, stopMax: 0 }],
  [/meta\.llama3-2-(1|3)b/, { ...simple, stopMax: 0 }],
  [/meta\.llama(3-2|4)/, { ...llama, takesImages: true }],
  [/meta\.llama/, llama],
  [/mistral-7b|mixtral-8x7b/, { ...mistral, ...textOnly, tools: 'none', takesSystem: false }],
  [/mistral-large-240[27]|mistral-small-2402/, { ...mistral, ...textOnly, tools: 'any', streamsTools: false }],
  [/pixtral/, { ...mistral, tools: 'any' }],
  [/mistral/, { ...mistral, tools: 'any', takesSchemas: true }],
  [/openai\.gpt-oss/, { ...openWeights, ...textOnly, reasoning: 'reasoning_effort', stopMax: 0 }],
  [/qwen/, { ...openWeights, tools: 'tool', topK: 'top_k', stopMax: 0 }],
  [/google\.gemma|moonshot|minimax|nvidia\.nemotron/, openWeights],
  [/writer\.palmyra/, { ...unknown, ...textOnly, streamsTools: false }],
]

/** The rules of a model by its id, with or without a region prefix, or by an ARN that contains it. */
export function converseRulesOf(model: string): ConverseRules {
  const name = model.toLowerCase()
  if (isClaude(name)) return claudeRules(name)
  return rows.find(([pattern]) => pattern.test(name))?.[1] ?? unknown
}

function claudeRules(name: string): ConverseRules {
  const claude = rulesOf(name)
  const isOld = /claude-(2|v2|instant)/.test(name)
  return {
    ...unknown,
    claude,
    tools: isOld ? 'none' : 'tool',
    takesImages: !isOld,
    takesVideo: false,
    takesResultStatus: true,
    cache: /claude-(2|v2|instant|3-(opus|sonnet|haiku|5-sonnet-20240620))/.test(name) ? 'nowhere' : 'everywhere',
    cachesAnHour: !/claude-(3|(opus|sonnet)-4-(1|2025))/.test(name),
    takesSchemas: claude.jsonSchema === 'native',
    takesPrefill: claude.takesPrefill,
    topK: 'top_k',
    stopMax: 2500,
  }
}
