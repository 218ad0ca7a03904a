/**
 * The wire formats by name, each with the vendor's own name for it, which is the same in every language. Log rows have the names, and
 * the console shows the labels. The declaration of each is in `src/server/gateway/protocols`, whose registry has no other names than these.
 */

/** Formats that callers speak: the dialect and the endpoint. */
export const callerFormats = {
  'openai.chat': 'OpenAI Chat Completions',
  'openai.completions': 'OpenAI Completions',
  'openai.embeddings': 'OpenAI Embeddings',
  'openai.responses': 'OpenAI Responses',
  'openai.input_tokens': 'OpenAI Input Tokens',
  'openai.compact': 'OpenAI Responses Compact',
  'openai.moderations': 'OpenAI Moderations',
  'openai.decisions': 'OpenAI Decisions',
  'openai.images': 'OpenAI Images',
  'openai.image-edits': 'OpenAI Image Edits',
  'openai.image-variations': 'OpenAI Image Variations',
  'openai.speech': 'OpenAI Speech',
  'openai.transcriptions': 'OpenAI Transcriptions',
  'openai.translations': 'OpenAI Translations',
  rerank: 'Rerank',
  'anthropic.messages': 'Anthropic Messages',
  'anthropic.count_tokens': 'Anthropic Count Tokens',
  'gemini.generate': 'Gemini generateContent',
  'gemini.interactions': 'Gemini Interactions',
  'gemini.count_tokens': 'Gemini countTokens',
  'gemini.embed': 'Gemini embedContent',
  'gemini.batch_embed': 'Gemini batchEmbedContents',
  'gemini.predict': 'Gemini predict',
} as const

/** Formats of upstreams that no caller speaks. */
export const upstreamFormats = {
  'cohere.chat': 'Cohere Chat',
  'ollama.chat': 'Ollama Chat',
  'bedrock.converse': 'Bedrock Converse',
  'bedrock.count_tokens': 'Bedrock CountTokens',
  'dashscope.chat': 'DashScope',
  'hunyuan.chat': 'Hunyuan ChatCompletions',
  'spark.chat': 'Spark Chat',
  'dify.chat': 'Dify Chat Messages',
  'coze.chat': 'Coze Chat',
  'ernie.chat': 'ERNIE Chat',
  'replicate.predict': 'Replicate Predictions',
  'palm.message': 'PaLM generateMessage',
  'library.ask': 'AI Proxy Library',
  'vertex.embed': 'Vertex AI Embeddings',
  'cohere.embed': 'Cohere Embed',
  'ollama.embed': 'Ollama Embed',
  'bedrock.titan-embed': 'Bedrock Titan Embeddings',
  'bedrock.cohere-embed': 'Bedrock Cohere Embed',
  'cohere.rerank': 'Cohere Rerank',
  'dashscope.rerank': 'DashScope Rerank',
  'voyage.rerank': 'Voyage Rerank',
  'dashscope.images': 'DashScope Images',
  'dashscope.image-messages': 'DashScope Image Messages',
  'siliconflow.images': 'SiliconFlow Images',
  'zhipu.images': 'Zhipu Images',
  'volcengine.images': 'Volcengine Images',
  'cloudflare.run': 'Cloudflare Workers AI',
  'minimax.images': 'MiniMax Images',
  'minimax.speech': 'MiniMax Speech',
  'xai.image-edits': 'xAI Image Edits',
} as const

/** Sessions over an open WebSocket instead of a request and a reply. */
export const socketFormats = { 'openai.realtime': 'OpenAI Realtime' } as const

/** What vendors store for their callers besides answers. */
export const storeFormats = {
  'openai.files': 'OpenAI Files',
  'openai.uploads': 'OpenAI Uploads',
  'openai.batches': 'OpenAI Batches',
  'anthropic.files': 'Anthropic Files',
  'anthropic.batches': 'Anthropic Message Batches',
  'gemini.files': 'Gemini Files',
  'gemini.uploads': 'Gemini Uploads',
  'gemini.batches': 'Gemini Batches',
} as const

const labels: Readonly<Record<string, string>> = { ...callerFormats, ...upstreamFormats, ...socketFormats, ...storeFormats }

/** The vendor's name of a format; the name itself for others, such as orders of drawings and music. */
export function formatName(format: string): string {
  return labels[format] ?? format
}
