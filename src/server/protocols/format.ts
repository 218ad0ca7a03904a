/** A wire format of callers: the dialect and the endpoint. */
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
  | 'openai.input_tokens'
  | 'openai.compact'
  | 'anthropic.count_tokens'
  | 'gemini.generate'
  | 'gemini.count_tokens'
  | 'gemini.embed'
  | 'gemini.batch_embed'
  | 'gemini.predict'

/** A wire format of upstreams that no caller speaks. */
export type UpstreamFormat =
  | 'cohere.chat'
  | 'ollama.chat'
  | 'bedrock.converse'
  | 'bedrock.count_tokens'
  | 'dashscope.chat'
  | 'hunyuan.chat'
  | 'spark.chat'
  | 'dify.chat'
  | 'coze.chat'
  | 'ernie.chat'
  | 'replicate.predict'
  | 'palm.message'
  | 'library.ask'
  | 'vertex.embed'
  | 'cohere.embed'
  | 'ollama.embed'
  | 'bedrock.titan-embed'
  | 'bedrock.cohere-embed'
  | 'cohere.rerank'
  | 'dashscope.rerank'
  | 'voyage.rerank'
  | 'dashscope.images'
  | 'dashscope.image-messages'
  | 'siliconflow.images'
  | 'zhipu.images'
  | 'volcengine.images'
  | 'cloudflare.run'
  | 'minimax.images'
  | 'minimax.speech'
  | 'xai.image-edits'

/** A session over an open WebSocket instead of a request and a reply. */
export type SocketFormat = 'openai.realtime'

/** Orders of drawings and music, which run asynchronously; handled by `tasks`. */
export type TaskFormat = 'drawing' | 'music'

/** The formats in which a channel can be called. */
export type ChannelFormat = CallerFormat | SocketFormat | TaskFormat

export type Format = ChannelFormat | UpstreamFormat

/** A dialect decides how errors, request ids and heartbeats look to the caller. */
export type Dialect = 'openai' | 'anthropic' | 'gemini' | TaskFormat
