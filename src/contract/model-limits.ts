/**
 * The context and output limits of models, by families of names: the one table of limits, for the greatest cost of a request and for
 * limits sent to the vendor. Tokens. Sources: the vendors' model pages (OpenAI, Anthropic, Google, DeepSeek, Alibaba, Mistral, xAI,
 * Cohere, Meta, Moonshot, Zhipu, MiniMax, Amazon) and the context windows in genai-prices 0.1.8, read 2026-11. If hosts of
 * one model differ, the largest limit is used.
 */
export interface ModelLimits {
  /** Prompt and answer together. */
  readonly contextTokens: number
  /** The longest answer of one choice, with its reasoning. */
  readonly outputTokensMax: number
}

/** The limits of a model by its name, in any vendor's spelling of it; generous ones for an unknown name. */
export function modelLimitsOf(model: string): ModelLimits {
  return knownModelLimits(model) ?? unknownModel
}

/** The limits of a model of a known family. */
export function knownModelLimits(model: string): ModelLimits | undefined {
  const name = model
    .slice(model.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/[.@_]/g, '-')
  const row = families.find(([pattern]) => pattern.test(name))
  return row && { contextTokens: row[1], outputTokensMax: row[2] }
}

const unknownModel: ModelLimits = { contextTokens: 1_000_000, outputTokensMax: 131_072 }

/**
 * The first matching pattern counts; names are in lower case, with `-` for `.`, `@` and `_`. An open model without its own output
 * limit has that of an unknown name, or its context when that is smaller.
 */
const families: readonly (readonly [pattern: RegExp, contextTokens: number, outputTokensMax: number])[] = [
  // OpenAI
  [/\bgpt-oss/, 131_072, 131_072],
  [/\bgpt-[6-9]/, 1_050_000, 131_072],
  [/\bgpt-5.{0,60}-chat/, 128_000, 16_384],
  [/\bgpt-5(-\d)?-pro/, 1_050_000, 272_000],
  [/\bgpt-5-[4-9]/, 1_050_000, 128_000],
  [/\bgpt-5/, 400_000, 128_000],
  [/\bgpt-4-1(?!\d)/, 1_047_576, 32_768],
  [/\bgpt-4o-64k/, 128_000, 65_536],
  [/\b(gpt-4o|gpt-4-5|chatgpt-4o|gpt-audio)/, 128_000, 16_384],
  [/\bgpt-realtime/, 128_000, 32_768],
  [/\bgpt-4-32k/, 32_768, 32_768],
  [/\bgpt-4-(turbo|vision|1106|0125|preview)/, 128_000, 4096],
  [/\bgpt-4(?!-?\d?[a-z])/, 8192, 8192],
  [/\bgpt-3-?5-.{0,60}(16k|0613|instruct)/, 16_385, 16_385],
  [/\bgpt-3-?5/, 16_385, 4096],
  [/\bo1-preview/, 128_000, 32_768],
  [/\bo1-mini/, 128_000, 65_536],
  [/\b(o[1-9](?![a-z\d])|codex-mini)/, 200_000, 100_000],

  // Anthropic. From 4 on, Sonnet reads 1,000,000 tokens where the account may.
  [/claude-(opus|sonnet|haiku)-5/, 1_000_000, 128_000],
  [/claude-(fable|mythos)/, 1_000_000, 128_000],
  [/claude-opus-4-[678](?!\d)/, 1_000_000, 128_000],
  [/claude-sonnet-4-6(?!\d)/, 1_000_000, 128_000],
  [/claude-sonnet-4/, 1_000_000, 64_000],
  [/claude-(opus|haiku)-4-5(?!\d)/, 200_000, 64_000],
  [/claude-opus-4/, 200_000, 32_000],
  [/claude-3-7/, 200_000, 64_000],
  [/claude-3-5/, 200_000, 8192],
  [/claude-(3|2|v2|instant)/, 200_000, 4096],

  // Google
  [/\bgemini-(1|pro$|pro-vision|exp-|ultra)/, 2_097_152, 8192],
  [/\bgemini-2-0-flash-thinking/, 1_048_576, 65_536],
  [/\bgemini-2-0/, 1_048_576, 8192],
  [/\bgemini-.{0,60}image/, 1_048_576, 32_768],
  [/\bgemini-.{0,60}-tts/, 32_768, 16_384],
  [/\bgemini-\d/, 1_048_576, 65_536],
  [/\bgemma-[12]/, 8192, 8192],
  [/\bgemma/, 262_144, 131_072],

  // DeepSeek. `deepseek-chat` and `deepseek-reasoner` are names of the newest models.
  [/\bdeepseek-(chat|reasoner)$|\bdeepseek-v[4-9]/, 1_048_576, 393_216],
  [/\bdeepseek/, 163_840, 163_840],

  // Alibaba
  [/\bqwen-long/, 10_000_000, 32_768],
  [/\bqwen/, 1_048_576, 131_072],
  [/\bqwq/, 131_072, 131_072],

  // Mistral
  [/\b(mistral|ministral|magistral|mixtral|codestral|devstral|pixtral|voxtral)/, 262_144, 131_072],

  // xAI
  [/\bgrok-4(-[12]\d?)?.{0,60}-fast|\bgrok-4-20/, 2_000_000, 131_072],
  [/\bgrok-(4-[3-9]|[5-9])/, 1_000_000, 131_072],
  [/\bgrok-(4|code|build)/, 262_144, 131_072],
  [/\bgrok/, 131_072, 131_072],

  // Cohere
  [/\bcommand-(light|nightly)/, 8192, 8192],
  [/\bcommand/, 262_144, 32_768],

  // Meta
  [/\bllama-?4-scout/, 10_485_760, 131_072],
  [/\bllama-?4/, 1_048_576, 131_072],
  [/\bllama-?3/, 131_072, 131_072],
  [/\bllama-?2/, 32_768, 32_768],

  // Moonshot
  [/\bkimi-k[3-9]/, 1_048_576, 131_072],
  [/\bkimi/, 262_144, 262_144],
  [/\bmoonshot-v1/, 131_072, 131_072],

  // Zhipu
  [/\bglm-(5-[2-9]|[6-9])/, 1_310_720, 131_072],
  [/\bglm-4-(long|plus)/, 1_048_576, 131_072],
  [/\bglm/, 204_800, 131_072],

  // MiniMax and Amazon
  [/\bminimax-m2/, 204_800, 131_072],
  [/\bminimax/, 1_048_576, 131_072],
  [/\bnova-(premier|2)/, 1_000_000, 65_536],
  [/\bnova-(micro|lite|pro)/, 300_000, 10_000],
]
