import { imagesByCloudflare, rerankByCloudflare, transcriptionsByCloudflare, translationsByCloudflare } from './cloudflare-run.ts'
import type { DirectConversion } from './conversion.ts'
import { embeddingConversions } from './embedding-forms.ts'
import { bedrockCohereHost, cohereHost } from './embeddings-cohere.ts'
import { geminiBatchHost, geminiHost } from './embeddings-gemini.ts'
import { openAiEmbeddingCaller } from './embeddings-inbound.ts'
import { ollamaHost } from './embeddings-ollama.ts'
import { openAiEmbeddingHost } from './embeddings-openai.ts'
import { titanHost } from './embeddings-titan.ts'
import { vertexHost } from './embeddings-vertex.ts'
import { geminiBatchEmbedCaller, geminiEmbedCaller } from './gemini-embed.ts'
import { imageEditsByDashScope, imagesByDashScope, imagesByDashScopeTask } from './images-dashscope.ts'
import { imageEditsByGemini, imagesByGemini } from './images-gemini.ts'
import { imagesByImagen } from './images-imagen.ts'
import { imageEditsBySiliconFlow, imagesBySiliconFlow } from './images-siliconflow.ts'
import { imageEditsByVolcEngine, imagesByVolcEngine } from './images-volcengine.ts'
import { imageEditsByGrok } from './images-xai.ts'
import { imagesByZhipu } from './images-zhipu.ts'
import { imagesByMiniMax, speechByMiniMax } from './minimax.ts'
import { rerankByCohere, rerankByDashScope, rerankByVoyage } from './rerank-conversions.ts'
import { speechByGemini } from './speech-gemini.ts'
import { transcriptionsByGemini, translationsByGemini } from './transcriptions-gemini.ts'

/** Every conversion of calls that are not conversations. The first match is used. A new conversion is its file and one line here. */
export const directConversions: readonly DirectConversion[] = [
  ...embeddingConversions(
    [openAiEmbeddingCaller, geminiEmbedCaller, geminiBatchEmbedCaller],
    [geminiBatchHost, geminiHost, vertexHost, cohereHost, ollamaHost, titanHost, bedrockCohereHost, openAiEmbeddingHost],
  ),
  rerankByCohere,
  rerankByDashScope,
  rerankByVoyage,
  rerankByCloudflare,
  imagesByImagen,
  imagesByGemini,
  imageEditsByGemini,
  imagesByDashScopeTask,
  imagesByDashScope,
  imageEditsByDashScope,
  imagesBySiliconFlow,
  imageEditsBySiliconFlow,
  imagesByZhipu,
  imagesByVolcEngine,
  imageEditsByVolcEngine,
  imageEditsByGrok,
  imagesByMiniMax,
  imagesByCloudflare,
  speechByGemini,
  speechByMiniMax,
  transcriptionsByGemini,
  translationsByGemini,
  transcriptionsByCloudflare,
  translationsByCloudflare,
]
