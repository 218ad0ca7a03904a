/** A wire format that callers speak: which dialect and which call of it. */
export type CallerFormat =
  | 'openai.chat'
  | 'openai.completions'
  | 'openai.embeddings'
  | 'openai.responses'
  | 'openai.moderations'
  | 'openai.images'
  | 'openai.image-edits'
  | 'openai.image-variations'
  | 'openai.speech'
  | 'openai.transcriptions'
  | 'openai.translations'
  | 'rerank'
  | 'anthropic.messages'
  | 'anthropic.count_tokens'
  | 'gemini.generate'

/** A wire format of upstreams that no caller speaks. */
export type UpstreamFormat =
  | 'cohere.chat'
  | 'ollama.chat'
  | 'bedrock.converse'
  | 'dashscope.chat'
  | 'hunyuan.chat'
  | 'spark.chat'
  | 'dify.chat'
  | 'coze.chat'
  | 'ernie.chat'
  | 'replicate.predict'

export type Format = CallerFormat | UpstreamFormat

/** A dialect decides how errors, request ids and heartbeats look to the caller. */
export type Dialect = 'openai' | 'anthropic' | 'gemini'
