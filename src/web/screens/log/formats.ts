/** Names of the protocols, as their vendors call them; the same in every language. */
const names: Readonly<Record<string, string>> = {
  'openai.chat': 'OpenAI Chat Completions',
  'openai.completions': 'OpenAI Completions',
  'openai.embeddings': 'OpenAI Embeddings',
  'openai.responses': 'OpenAI Responses',
  'openai.images': 'OpenAI Images',
  'openai.speech': 'OpenAI Speech',
  'openai.transcriptions': 'OpenAI Transcriptions',
  'anthropic.messages': 'Anthropic Messages',
  'gemini.generate': 'Gemini generateContent',
  'cohere.chat': 'Cohere Chat',
  'ollama.chat': 'Ollama Chat',
  'bedrock.converse': 'Bedrock Converse',
  'dashscope.chat': 'DashScope',
  'replicate.predict': 'Replicate Predictions',
  'palm.message': 'PaLM generateMessage',
  'library.ask': 'AI Proxy Library',
}

export function formatName(format: string): string {
  return names[format] ?? format
}
