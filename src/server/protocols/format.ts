/** A wire format: which dialect and which call of it. */
export type Format = 'openai.chat' | 'openai.completions' | 'openai.embeddings' | 'anthropic.messages'

/** A dialect decides how errors, request ids and heartbeats look to the caller. */
export type Dialect = 'openai' | 'anthropic' | 'gemini'
