import { anthropicMessagesCodec } from './anthropic-messages/codec.ts'
import { anthropicMessages } from './anthropic-messages/messages.ts'
import { anthropicCountTokens } from './anthropic-messages/token-count.ts'
import { bedrockConverse } from './bedrock-converse/codec.ts'
import type { Codec, Inbound } from './codec.ts'
import { cohereChat } from './cohere-chat/codec.ts'
import { cozeChat } from './coze-chat/codec.ts'
import { dashScopeChat } from './dashscope-chat/codec.ts'
import { difyChat } from './dify-chat/codec.ts'
import { openAiCompletions } from './direct/completions.ts'
import { completionsInbound } from './direct/completions-inbound.ts'
import { openAiEmbeddings } from './direct/embeddings.ts'
import { geminiBatchEmbed, geminiEmbed } from './direct/gemini-embed.ts'
import { geminiPredict } from './direct/gemini-predict.ts'
import { openAiImageEdits, openAiImages, openAiImageVariations } from './direct/images.ts'
import { openAiModerations } from './direct/moderations.ts'
import { rerank } from './direct/rerank.ts'
import { openAiSpeech } from './direct/speech.ts'
import { openAiTranscriptions, openAiTranslations } from './direct/transcriptions.ts'
import { ernieChat } from './ernie-chat/codec.ts'
import type { CallerFormat, ChannelFormat, Format } from './format.ts'
import { geminiGenerateCodec } from './gemini-generate/codec.ts'
import { geminiGenerate } from './gemini-generate/generate.ts'
import { geminiCountTokens } from './gemini-generate/token-count.ts'
import { hunyuanChat } from './hunyuan-chat/codec.ts'
import { libraryAsk } from './library-ask/codec.ts'
import { ollamaChat } from './ollama-chat/codec.ts'
import { openAiChat } from './openai-chat/chat.ts'
import { openAiChatCodec } from './openai-chat/codec.ts'
import { responsesCodec } from './openai-responses/codec.ts'
import { openAiCompact } from './openai-responses/compact.ts'
import { openAiResponses } from './openai-responses/responses.ts'
import { openAiInputTokens } from './openai-responses/token-count.ts'
import { palmMessage } from './palm-message/codec.ts'
import { replicatePredict } from './replicate-predict/codec.ts'
import { sparkChat } from './spark-chat/codec.ts'
import type { WireFormat } from './wire-format.ts'

/** Every wire format that callers speak. A new one needs its folder and one line here. */
export const wireFormats: Readonly<Record<CallerFormat, WireFormat>> = {
  'openai.chat': openAiChat,
  'openai.completions': openAiCompletions,
  'openai.embeddings': openAiEmbeddings,
  'openai.responses': openAiResponses,
  'openai.input_tokens': openAiInputTokens,
  'openai.compact': openAiCompact,
  'openai.moderations': openAiModerations,
  'openai.images': openAiImages,
  'openai.image-edits': openAiImageEdits,
  'openai.image-variations': openAiImageVariations,
  'openai.speech': openAiSpeech,
  'openai.transcriptions': openAiTranscriptions,
  'openai.translations': openAiTranslations,
  rerank,
  'anthropic.messages': anthropicMessages,
  'anthropic.count_tokens': anthropicCountTokens,
  'gemini.generate': geminiGenerate,
  'gemini.count_tokens': geminiCountTokens,
  'gemini.embed': geminiEmbed,
  'gemini.batch_embed': geminiBatchEmbed,
  'gemini.predict': geminiPredict,
}

/** The formats of conversations that are translated. A new one needs its folder and one line here. */
export const codecs: Readonly<Partial<Record<Format, Codec>>> = {
  'openai.chat': openAiChatCodec,
  'openai.responses': responsesCodec,
  'anthropic.messages': anthropicMessagesCodec,
  'gemini.generate': geminiGenerateCodec,
  'bedrock.converse': bedrockConverse,
  'ollama.chat': ollamaChat,
  'cohere.chat': cohereChat,
  'dify.chat': difyChat,
  'coze.chat': cozeChat,
  'ernie.chat': ernieChat,
  'replicate.predict': replicatePredict,
  'palm.message': palmMessage,
  'library.ask': libraryAsk,
  'spark.chat': sparkChat,
  'hunyuan.chat': hunyuanChat,
  'dashscope.chat': dashScopeChat,
}

export { directConversions } from './direct/conversions.ts'

/** Readers of requests and writers of replies, for the formats of callers. */
export const inbounds: Readonly<Partial<Record<ChannelFormat, Inbound>>> = {
  'openai.chat': openAiChatCodec.inbound,
  'openai.completions': completionsInbound,
  'openai.responses': responsesCodec.inbound,
  'anthropic.messages': anthropicMessagesCodec.inbound,
  'gemini.generate': geminiGenerateCodec.inbound,
}
