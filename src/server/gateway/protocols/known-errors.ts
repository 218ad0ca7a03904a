import type { Dialect } from './format.ts'
import { isObject, type UpstreamErrorFacts } from './wire-format.ts'

/**
 * Errors of any vendor that clients react to: agents shorten a conversation that is too long, and stop requesting a model that does
 * not exist. Each vendor words them differently; `error-dialect.ts` words them like the caller's vendor. Sources: the vendors'
 * error references, their servers' sources and reports of their users, read 2026-11.
 */
export interface KnownError {
  readonly kind: ErrorKind
  /** The dialect whose wording the error has; undefined if no dialect has it. */
  readonly dialect?: Dialect
  /** Only a part of the account is used up: what one model, or one request of this size, may take. The key serves others. */
  readonly isPartial?: true
  /** The size of the request, including the requested output if the vendor counts it; undefined if not reported. In tokens. */
  readonly tokens?: number
  /** The maximum that the model accepts, in tokens. */
  readonly limit?: number
  /** The excess of the request over the limit. In tokens. */
  readonly excess?: number
}

type ErrorKind = 'context-too-long' | 'content-filtered' | 'model-unknown' | 'quota-exhausted'

interface Recogniser {
  readonly vendor: string
  readonly kind: ErrorKind
  readonly dialect?: Dialect
  readonly isPartial?: true
  /** Codes or types, as the vendor writes them. */
  readonly codes?: readonly string[]
  /** A pattern of the message. The groups `tokens`, `answer`, `limit` and `excess` are numbers of tokens. */
  readonly message?: RegExp
}

/** The first match counts; patterns with numbers precede those of the same vendor without. */
const recognisers: readonly Recogniser[] = [
  // The conversation is longer than the model's context
  {
    vendor: 'Anthropic',
    kind: 'context-too-long',
    dialect: 'anthropic',
    message: /prompt is too long: (?<tokens>\d{1,12}) tokens > (?<limit>\d{1,12}) maximum/i,
  },
  {
    vendor: 'Anthropic',
    kind: 'context-too-long',
    dialect: 'anthropic',
    message: /exceed context limit: (?<tokens>\d{1,12}) \+ (?<answer>\d{1,12}) > (?<limit>\d{1,12})/i,
  },
  {
    vendor: 'OpenAI, DeepSeek, vLLM, OpenRouter, Azure',
    kind: 'context-too-long',
    dialect: 'openai',
    message:
      /maximum context length is (?<limit>\d{1,12}) tokens.{1,80}?(?:requested|resulted in|contains|has)(?: about| at least)? (?<tokens>\d{1,12}) (?:input )?tokens(?: plus (?<answer>\d{1,12}))?/i,
  },
  {
    vendor: 'OpenAI, vLLM',
    kind: 'context-too-long',
    dialect: 'openai',
    message: /maximum context length is (?<limit>\d{1,12}) tokens/i,
  },
  {
    vendor: 'OpenAI (Responses)',
    kind: 'context-too-long',
    dialect: 'openai',
    message: /exceeds the context window of this model/i,
  },
  {
    vendor: 'Gemini',
    kind: 'context-too-long',
    dialect: 'gemini',
    message: /input token count \((?<tokens>\d{1,12})\) exceeds the maximum number of tokens allowed \((?<limit>\d{1,12})\)/i,
  },
  {
    vendor: 'Gemini',
    kind: 'context-too-long',
    message: /input token count exceeds the maximum number of tokens allowed(?: \(?(?<limit>\d{1,12}))?/i,
  },
  {
    vendor: 'Vertex',
    kind: 'context-too-long',
    message: /input token count is (?<tokens>\d{1,12}) but.{1,40}supports up to (?<limit>\d{1,12})/i,
  },
  {
    vendor: 'Mistral',
    kind: 'context-too-long',
    message:
      /prompt contains (?<tokens>\d{1,12}) tokens.{0,80}too large for model with (?<limit>\d{1,12}) maximum context length/i,
  },
  { vendor: 'Qwen', kind: 'context-too-long', message: /range of input length should be \[\d{1,12}, ?(?<limit>\d{1,12})\]/i },
  {
    vendor: 'Cohere',
    kind: 'context-too-long',
    message:
      /too many tokens: .{0,80}(?:prompt|prediction\)) cannot exceed (?<limit>\d{1,12})(?: - received (?<tokens>\d{1,12}))?/i,
  },
  { vendor: 'Cohere', kind: 'context-too-long', message: /too many tokens: size limit exceeded by (?<excess>\d{1,12}) tokens/i },
  {
    vendor: 'Bedrock',
    kind: 'context-too-long',
    message: /too many input tokens\. max input tokens: (?<limit>\d{1,12}), request input token count: (?<tokens>\d{1,12})/i,
  },
  { vendor: 'Bedrock', kind: 'context-too-long', message: /input is too long for requested model/i },
  {
    vendor: 'llama.cpp',
    kind: 'context-too-long',
    message: /request \((?<tokens>\d{1,12}) tokens\) exceeds the available context size \((?<limit>\d{1,12}) tokens\)/i,
  },
  {
    vendor: 'llama.cpp, behind Ollama',
    kind: 'context-too-long',
    message: /"n_prompt_tokens": ?(?<tokens>\d{1,12}), ?"n_ctx": ?(?<limit>\d{1,12})/,
  },
  {
    vendor: 'llama.cpp',
    kind: 'context-too-long',
    codes: ['exceed_context_size_error'],
    message: /exceeds the available context size/i,
  },
  {
    vendor: 'Ollama',
    kind: 'context-too-long',
    message: /prompt too long; exceeded (?:max )?context length(?: by (?<excess>\d{1,12}) tokens)?/i,
  },
  { vendor: 'Ollama', kind: 'context-too-long', message: /input length exceeds (?:the|maximum) context length/i },
  {
    vendor: 'xAI',
    kind: 'context-too-long',
    message: /maximum prompt length is (?<limit>\d{1,12}) but the request contains (?<tokens>\d{1,12})/i,
  },
  {
    vendor: 'Moonshot',
    kind: 'context-too-long',
    message: /exceeded model token limit: (?<limit>\d{1,12})(?: \(requested: (?<tokens>\d{1,12}))?/i,
  },
  {
    vendor: 'Together',
    kind: 'context-too-long',
    message: /input \((?<tokens>\d{1,12}) tokens\) is longer than the model's context length \((?<limit>\d{1,12})/i,
  },
  {
    vendor: 'Hugging Face',
    kind: 'context-too-long',
    message: /must have less than (?<limit>\d{1,12}) tokens\. given: (?<tokens>\d{1,12})/i,
  },
  { vendor: 'MiniMax', kind: 'context-too-long', message: /context window exceeds limit/i },
  { vendor: 'Zhipu, ERNIE', kind: 'context-too-long', codes: ['1261', '336103'], message: /prompt exceeds max length/i },
  {
    vendor: 'OpenAI, Groq',
    kind: 'context-too-long',
    dialect: 'openai',
    codes: ['context_length_exceeded'],
    message: /reduce the length of the messages or completion/i,
  },

  // The content of the request or of the answer was refused
  {
    vendor: 'OpenAI, Azure',
    kind: 'content-filtered',
    dialect: 'openai',
    codes: ['content_filter', 'content_policy_violation', 'image_content_policy_violation', 'moderation_blocked'],
    message: /content management policy/i,
  },
  { vendor: 'Anthropic', kind: 'content-filtered', dialect: 'anthropic', message: /output blocked by content filtering policy/i },
  {
    vendor: 'Gemini, Vertex',
    kind: 'content-filtered',
    dialect: 'gemini',
    message: /PROHIBITED_CONTENT|violate Google's Responsible AI practices/,
  },
  { vendor: 'DeepSeek', kind: 'content-filtered', message: /content exists risk/i },
  {
    vendor: 'Qwen',
    kind: 'content-filtered',
    codes: ['data_inspection_failed', 'DataInspectionFailed'],
    message: /data may contain inappropriate content/i,
  },
  { vendor: 'Bedrock', kind: 'content-filtered', message: /blocked by (?:our|the) content filters?/i },
  { vendor: 'Cohere', kind: 'content-filtered', message: /^blocked (?:input|output)/i },
  { vendor: 'Mistral', kind: 'content-filtered', codes: ['content_moderation', 'guardrail_violation'] },
  { vendor: 'xAI', kind: 'content-filtered', message: /content violates usage guidelines/i },
  { vendor: 'Zhipu', kind: 'content-filtered', codes: ['1301'] },

  // The account behind the key has no credit left, or a part of it
  {
    vendor: 'OpenRouter',
    kind: 'quota-exhausted',
    isPartial: true,
    message: /can only afford [1-9]|more credits are required to run this request|^prompt tokens limit exceeded/i,
  },
  { vendor: 'Qwen', kind: 'quota-exhausted', isPartial: true, codes: ['AllocationQuota.FreeTierOnly'] },
  { vendor: 'Qwen', kind: 'quota-exhausted', isPartial: true, message: /free tier of the model has been exhausted/i },
  { vendor: 'Bedrock', kind: 'quota-exhausted', isPartial: true, codes: ['ServiceQuotaExceededException'] },
  {
    vendor: 'Volcengine',
    kind: 'quota-exhausted',
    isPartial: true,
    codes: ['SetLimitExceeded'],
    message: /exhausted its free trial quota for the/i,
  },
  {
    vendor: 'Sites of the family',
    kind: 'quota-exhausted',
    isPartial: true,
    codes: ['pre_consume_token_quota_failed'],
  },
  {
    vendor: 'OpenAI and others',
    kind: 'quota-exhausted',
    codes: [
      'insufficient_quota',
      'billing_hard_limit_reached',
      'exceeded_current_quota_error',
      'insufficient_balance',
      'insufficient_balance_error',
      'billing_error',
    ],
  },
  {
    vendor: 'Sites of the family',
    kind: 'quota-exhausted',
    codes: ['insufficient_user_quota'],
    message: /^(?:用户额度不足|预扣费额度失败|订阅额度不足|该令牌额度已用尽)|(?:user|token) quota is not enough/i,
  },
  { vendor: 'Anthropic', kind: 'quota-exhausted', message: /credit balance is too low/i },
  { vendor: 'Gemini', kind: 'quota-exhausted', message: /prepayment credits are depleted/i },
  { vendor: 'DeepSeek, MiniMax', kind: 'quota-exhausted', message: /^insufficient balance/i },
  { vendor: 'OpenRouter', kind: 'quota-exhausted', message: /^(?:insufficient credits|key limit exceeded)/i },
  { vendor: 'Qwen', kind: 'quota-exhausted', codes: ['Arrearage'], message: /account is in good standing/i },
  { vendor: 'Cohere', kind: 'quota-exhausted', message: /trial key.{1,60}limited to \d{1,9} API calls \/ month/i },
  { vendor: 'Mistral', kind: 'quota-exhausted', message: /monthly (?:usage|spending) limit/i },
  {
    vendor: 'xAI',
    kind: 'quota-exhausted',
    message: /used all available credits|doesn't have any credits|run out of credits or need a/i,
  },
  {
    vendor: 'SiliconFlow',
    kind: 'quota-exhausted',
    message: /account balance is insufficient|paid[- ]balance is insufficient/i,
  },
  {
    vendor: 'Volcengine',
    kind: 'quota-exhausted',
    codes: ['AccountOverdueError'],
    message: /account has an overdue balance/i,
  },
  {
    vendor: 'Zhipu',
    kind: 'quota-exhausted',
    codes: ['1113'],
    message: /账户已欠费|insufficient balance or no resource package/i,
  },
  {
    vendor: 'Moonshot',
    kind: 'quota-exhausted',
    message: /exceeded your current token quota|account .{1,80} suspended.{0,60}(?:balance|billing)/i,
  },
  {
    vendor: 'Tencent',
    kind: 'quota-exhausted',
    codes: ['ResourceUnavailable.InArrears', 'ResourceUnavailable.LowBalance', 'FailedOperation.ResourcePackExhausted'],
  },

  // There is no such model
  {
    vendor: 'OpenAI, Azure, Qwen, Mistral, Volcengine',
    kind: 'model-unknown',
    codes: ['model_not_found', 'DeploymentNotFound', 'invalid_model', 'ModelNotFound', 'InvalidEndpointOrModel.NotFound'],
  },
  {
    vendor: 'OpenAI, vLLM, Cohere, Ollama, llama.cpp',
    kind: 'model-unknown',
    message: /\bmodel [`'"]?[^\s`'"]{1,200}[`'"]? (?:does not exist|not found|is not found)/i,
  },
  { vendor: 'Anthropic', kind: 'model-unknown', message: /^model: [^\s]{1,200}$/ },
  { vendor: 'Gemini', kind: 'model-unknown', message: /models\/[^\s]{1,200} is not found for API version/i },
  { vendor: 'Vertex', kind: 'model-unknown', message: /publisher model .{1,300} (?:was )?not found/i },
  { vendor: 'Bedrock', kind: 'model-unknown', message: /model identifier is invalid|could not resolve the foundation model/i },
  { vendor: 'Mistral', kind: 'model-unknown', message: /^invalid model: /i },
  { vendor: 'DeepSeek, SiliconFlow', kind: 'model-unknown', message: /^model (?:does )?not (?:exist|found)/i },
  { vendor: 'Moonshot', kind: 'model-unknown', message: /^not found the model/i },
  { vendor: 'OpenRouter', kind: 'model-unknown', message: /is not a valid model ID|^no endpoints found for/i },
  { vendor: 'Zhipu', kind: 'model-unknown', codes: ['1211'] },
]

/**
 * The statuses with which an error of a kind may be reported; 5xx are included for servers that use them for every refusal, and for
 * errors inside of streams.
 */
const matchesStatus: Readonly<Record<ErrorKind, (status: number) => boolean>> = {
  'context-too-long': (status) => status !== 401 && status !== 402 && status !== 403 && status !== 429,
  'content-filtered': (status) => status !== 401 && status !== 402 && status !== 429,
  'quota-exhausted': () => true,
  'model-unknown': (status) => status !== 401 && status !== 402 && status !== 429,
}

/** The kind of an error of any vendor; undefined if it is not one of these kinds. */
export function recognise(facts: UpstreamErrorFacts, status: number): KnownError | undefined {
  const message = facts.message.slice(0, readMax).replace(/(?<=\d),(?=\d{3}(?!\d))/g, '')
  for (const { kind, dialect, isPartial, codes, message: pattern } of recognisers) {
    if (!matchesStatus[kind](status)) continue
    const found = pattern?.exec(message)
    if (!found && !codes?.includes(facts.code) && !codes?.includes(facts.type)) continue
    const numbers = kind === 'context-too-long' ? readNumbers(found?.groups ?? {}, facts) : {}
    return { kind, ...(dialect ? { dialect } : {}), ...(isPartial ? { isPartial } : {}), ...numbers }
  }
  return status === 402 ? { kind: 'quota-exhausted' } : undefined
}

const readMax = 4000

function readNumbers(groups: Readonly<Record<string, string | undefined>>, { extra }: UpstreamErrorFacts): Partial<KnownError> {
  // llama.cpp reports the numbers in separate members, not in the message.
  const { n_prompt_tokens: promptTokens, n_ctx: contextTokens } = isObject(extra?.members) ? extra.members : {}
  const tokens = numberIn(groups.tokens) ?? numberIn(promptTokens)
  const limit = numberIn(groups.limit) ?? numberIn(contextTokens)
  const excess = numberIn(groups.excess)
  return {
    ...(tokens === undefined ? {} : { tokens: tokens + (numberIn(groups.answer) ?? 0) }),
    ...(limit === undefined ? {} : { limit }),
    ...(excess === undefined ? {} : { excess }),
  }
}

function numberIn(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined
}
