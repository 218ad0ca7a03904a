import { modelLimitsOf } from '../../src/contract/model-limits.ts'

/**
 * Shapes of requests that once cost a multiple of their hold, in every dialect that has them, each with the most expensive usage that
 * a vendor can report for it. A test sends them; this file is the table.
 */
export interface HoldShape {
  readonly name: string
  readonly path: string
  readonly model: string
  readonly body: Readonly<Record<string, unknown>> | (() => FormData)
  /** The most expensive usage: `limit` is the output limit that was sent to the upstream; undefined when there was none. */
  readonly usage: (sent: { readonly limit: number | undefined }) => Dearest
  /** Only the upstream knows the length of the prompt. */
  readonly isUnbounded?: true
}

export interface Dearest {
  readonly prompt: number
  readonly output: number
  readonly cacheWrite30m?: number
  readonly cacheWrite1h?: number
  readonly cacheWrite12h?: number
  readonly cachedAudio?: number
  readonly audioIn?: number
  readonly audioOut?: number
  readonly imageIn?: number
  readonly imageOut?: number
  readonly videoOut?: number
  readonly searches?: number
  /** Seconds of transcribed audio. */
  readonly seconds?: number
  readonly images?: number
}

export const holdModels = {
  openai: [
    'gpt-4o-mini',
    'gpt-4o',
    'gpt-4.1',
    'gpt-3.5-turbo-instruct',
    'text-embedding-3-small',
    'gpt-4o-audio-preview',
    'gpt-image-1',
    'dall-e-3',
    'tts-1',
    'gpt-4o-mini-tts',
    'whisper-1',
    'gpt-4o-search-preview',
    'gpt-5.6-sol',
  ],
  anthropic: ['claude-3-5-sonnet-20241022', 'claude-opus-4-5'],
  gemini: ['gemini-2.5-flash', 'gemini-omni-flash-preview'],
} as const

/** Prices of separately sold units, in addition to the ratio of 0.05 of every model. */
export const holdPrices = {
  CacheWriteFactor: { '30m': 1, '1h': 1.6, '12h': 1.6, '12h/gpt-5.6*': 2.4 },
  AudioRatio: { 'gemini-2.5-flash': 3 },
  AudioCacheRatio: { 'gemini-2.5-flash': 1.75 },
  VideoCompletionRatio: { 'gemini-omni-flash-preview': 12 },
}

const text = (from: number, size: number, length = 4000) =>
  Array.from({ length }, (_, index) => String.fromCodePoint(from + ((index * 7919) % size))).join('')
const letters = Array.from(
  { length: 8000 },
  (_, index) => 'abcdefghijklmnopqrstuvwxyz'[(index * index * 31 + index * 17) % 26],
).join('')
const base64 = Buffer.from(Array.from({ length: 6000 }, (_, index) => (index * index * 7 + index * 13) % 256)).toString('base64')
const bytesOf = (value: string) => Buffer.byteLength(value)
const longest = (model: string) => modelLimitsOf(model).outputTokensMax
const contextOf = (model: string) => modelLimitsOf(model).contextTokens

const scripts = {
  Cherokee: text(0x13a0, 80),
  Coptic: text(0x2c80, 100),
  Braille: text(0x2801, 250),
  'private use': text(0xe000, 6000),
  'random letters': letters,
  base64,
}

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII='
const say = (content: unknown) => [{ role: 'user', content }]
const chat = '/v1/chat/completions'
const messages = '/v1/messages'
const responses = '/v1/responses'
const interactions = '/v1beta/interactions'
const generate = (model: string) => `/v1beta/models/${model}:generateContent`
const claude = 'claude-3-5-sonnet-20241022'
const gemini = 'gemini-2.5-flash'
const caching = 'gpt-5.6-sol'
const filming = 'gemini-omni-flash-preview'

/** Reports as much output as the limit that was sent, or the model, allows. */
const full = (model: string, prompt: number, more: Partial<Dearest> = {}, completions = 1) => ({
  usage: ({ limit }: { limit: number | undefined }) => ({ prompt, output: (limit ?? longest(model)) * completions, ...more }),
})
const unbounded = (model: string, more: Partial<Dearest> = {}) => ({
  ...full(model, contextOf(model) - 20_000, more),
  isUnbounded: true as const,
})

export const holdShapes: readonly HoldShape[] = [
  ...Object.entries(scripts).flatMap(([name, script]): HoldShape[] => [
    { name: `Chat, ${name}`, path: chat, model: 'gpt-4o-mini', body: { messages: say(script), max_tokens: 16 }, ...full('gpt-4o-mini', bytesOf(script) + 8) },
    { name: `Responses, ${name}`, path: responses, model: 'gpt-4o-mini', body: { input: script, max_output_tokens: 16 }, ...full('gpt-4o-mini', bytesOf(script) + 8) },
    { name: `Messages, ${name}`, path: messages, model: claude, body: { messages: say(script), max_tokens: 16 }, ...full(claude, bytesOf(script) + 8) },
    { name: `Gemini, ${name}`, path: generate(gemini), model: gemini, body: { contents: [{ parts: [{ text: script }] }], generationConfig: { maxOutputTokens: 16 } }, ...full(gemini, bytesOf(script) + 2) },
    { name: `Embeddings, ${name}`, path: '/v1/embeddings', model: 'text-embedding-3-small', body: { input: script }, usage: () => ({ prompt: bytesOf(script), output: 0 }) },
  ]),
  { name: 'Completions, token ids', path: '/v1/completions', model: 'gpt-3.5-turbo-instruct', body: { prompt: Array.from({ length: 3000 }, (_, index) => index), max_tokens: 16 }, ...full('gpt-3.5-turbo-instruct', 3000) },
  { name: 'Embeddings, token ids', path: '/v1/embeddings', model: 'text-embedding-3-small', body: { input: [Array.from({ length: 3000 }, (_, index) => index)] }, usage: () => ({ prompt: 3000, output: 0 }) },
  { name: 'Completions, list of prompts', path: '/v1/completions', model: 'gpt-3.5-turbo-instruct', body: { prompt: Array(40).fill('hi') }, ...full('gpt-3.5-turbo-instruct', 80, {}, 40) },
  { name: 'Completions, best_of', path: '/v1/completions', model: 'gpt-3.5-turbo-instruct', body: { prompt: 'hi', best_of: 20, max_tokens: 500 }, ...full('gpt-3.5-turbo-instruct', 2, {}, 20) },
  { name: 'Chat, n of 128 without a limit', path: chat, model: 'gpt-4o-mini', body: { messages: say('hi'), n: 128 }, ...full('gpt-4o-mini', 8, {}, 128) },
  { name: 'Chat, n of 8 with a limit', path: chat, model: 'gpt-4o-mini', body: { messages: say('hi'), n: 8, max_tokens: 500 }, ...full('gpt-4o-mini', 8, {}, 8) },
  { name: 'Gemini, candidateCount of 8 without a limit', path: generate(gemini), model: gemini, body: { contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { candidateCount: 8 } }, ...full(gemini, 2, {}, 8) },
  { name: 'Chat, no limit', path: chat, model: 'gpt-4o-mini', body: { messages: say('hi') }, ...full('gpt-4o-mini', 8) },
  { name: 'Responses, no limit', path: responses, model: 'gpt-4o-mini', body: { input: 'hi' }, ...full('gpt-4o-mini', 8) },
  { name: 'Gemini, no limit', path: generate(gemini), model: gemini, body: { contents: [{ parts: [{ text: 'hi' }] }] }, ...full(gemini, 2) },
  { name: 'Chat to Claude, no limit', path: chat, model: claude, body: { messages: say('hi') }, ...full(claude, 8) },
  { name: 'Messages, cache write', path: messages, model: claude, body: { system: [{ type: 'text', text: letters, cache_control: { type: 'ephemeral' } }], messages: say('hi'), max_tokens: 16 }, ...full(claude, bytesOf(letters) + 8, { cacheWrite1h: bytesOf(letters) }) },
  { name: 'Messages, cache write of an hour', path: messages, model: claude, body: { system: [{ type: 'text', text: letters, cache_control: { type: 'ephemeral', ttl: '1h' } }], messages: say('hi'), max_tokens: 16 }, ...full(claude, bytesOf(letters) + 8, { cacheWrite1h: bytesOf(letters) }) },
  { name: 'Chat, cache write unasked', path: chat, model: caching, body: { messages: say(letters), max_completion_tokens: 16 }, ...full(caching, bytesOf(letters) + 8, { cacheWrite30m: bytesOf(letters) }) },
  { name: 'Responses, cache write unasked', path: responses, model: caching, body: { input: letters, max_output_tokens: 16 }, ...full(caching, bytesOf(letters) + 8, { cacheWrite30m: bytesOf(letters) }) },
  { name: 'Responses, cache write of 12 hours', path: responses, model: caching, body: { input: letters, prompt_cache_options: { ttl: '12h' }, max_output_tokens: 16 }, ...full(caching, bytesOf(letters) + 8, { cacheWrite12h: bytesOf(letters) }) },
  { name: 'Responses, breakpoint of 12 hours', path: responses, model: caching, body: { input: say([{ type: 'input_text', text: letters, prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } }]), max_output_tokens: 16 }, ...full(caching, bytesOf(letters) + 8, { cacheWrite12h: bytesOf(letters) }) },
  { name: 'Messages, tools', path: messages, model: claude, body: { messages: say('hi'), max_tokens: 16, tools: [{ name: 'f', description: 'a tool', input_schema: { type: 'object' } }] }, ...full(claude, 800) },
  { name: 'Messages, thinking budget', path: messages, model: 'claude-opus-4-5', body: { messages: say('hi'), max_tokens: 9000, thinking: { type: 'enabled', budget_tokens: 8000 } }, ...full('claude-opus-4-5', 40) },
  { name: 'Gemini, thinking budget', path: generate(gemini), model: gemini, body: { contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { thinkingConfig: { thinkingBudget: 8000 } } }, ...full(gemini, 2) },
  { name: 'Chat, audio in', path: chat, model: 'gpt-4o-audio-preview', body: { messages: say([{ type: 'input_audio', input_audio: { data: wav(4).toString('base64'), format: 'wav' } }]), max_tokens: 16 }, ...full('gpt-4o-audio-preview', 60, { audioIn: 50 }) },
  { name: 'Chat, audio out', path: chat, model: 'gpt-4o-audio-preview', body: { messages: say('hi'), modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' }, max_tokens: 500 }, usage: ({ limit = 0 }) => ({ prompt: 8, output: limit, audioOut: limit }) },
  { name: 'Chat, image as data', path: chat, model: 'gpt-4o', body: { messages: say([{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }]), max_tokens: 16 }, ...full('gpt-4o', 263, { imageIn: 255 }) },
  { name: 'Chat, image by address', path: chat, model: 'gpt-4o', body: { messages: say([{ type: 'image_url', image_url: { url: 'https://images.example/a.png' } }]), max_tokens: 16 }, ...full('gpt-4o', 1_453, { imageIn: 1_445 }) },
  { name: 'Messages, image by address', path: messages, model: claude, body: { messages: say([{ type: 'image', source: { type: 'url', url: 'https://images.example/a.png' } }]), max_tokens: 16 }, ...full(claude, 1_608) },
  { name: 'Chat, prediction and unknown members', path: chat, model: 'gpt-4o', body: { messages: say('hi'), max_tokens: 16, prediction: { type: 'content', content: letters }, guided_json: letters, chat_template: letters, documents: [{ text: letters }] }, ...full('gpt-4o', 4 * bytesOf(letters)) },
  { name: 'Messages, PDF as data', path: messages, model: claude, body: { messages: say([{ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: Buffer.from('%PDF-1.4 /Type /Page ').toString('base64') } }]), max_tokens: 16 }, ...unbounded(claude) },
  { name: 'Messages, PDF by address', path: messages, model: claude, body: { messages: say([{ type: 'document', source: { type: 'url', url: 'https://files.example/a.pdf' } }]), max_tokens: 16 }, ...unbounded(claude) },
  { name: 'Chat, file id', path: chat, model: 'gpt-4o', body: { messages: say([{ type: 'file', file: { file_id: 'file-1' } }]), max_tokens: 16 }, ...unbounded('gpt-4o') },
  { name: 'Responses, file by address', path: responses, model: 'gpt-4o', body: { input: say([{ type: 'input_file', file_url: 'https://files.example/a.pdf' }]), max_output_tokens: 16 }, ...unbounded('gpt-4o') },
  { name: 'Responses, web search', path: responses, model: 'gpt-4.1', body: { input: 'hi', tools: [{ type: 'web_search' }], max_output_tokens: 16 }, ...unbounded('gpt-4.1', { searches: 5 }) },
  { name: 'Responses, file search', path: responses, model: 'gpt-4.1', body: { input: 'hi', tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }], max_output_tokens: 16 }, ...unbounded('gpt-4.1') },
  { name: 'Responses, code interpreter', path: responses, model: 'gpt-4.1', body: { input: 'hi', tools: [{ type: 'code_interpreter', container: { type: 'auto' } }], max_output_tokens: 16 }, ...unbounded('gpt-4.1') },
  { name: 'Messages, web search', path: messages, model: 'claude-opus-4-5', body: { messages: say('hi'), max_tokens: 16, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, ...unbounded('claude-opus-4-5', { searches: 5 }) },
  { name: 'Responses, stored prompt', path: responses, model: 'gpt-4o', body: { prompt: { id: 'pmpt_1' }, max_output_tokens: 16 }, ...unbounded('gpt-4o') },
  { name: 'Gemini, cached content', path: generate(gemini), model: gemini, body: { contents: [{ parts: [{ text: 'hi' }] }], cachedContent: 'cachedContents/1', generationConfig: { maxOutputTokens: 16 } }, ...unbounded(gemini) },
  { name: 'Gemini, cached sound', path: generate(gemini), model: gemini, body: { contents: [{ parts: [{ text: 'hi' }] }], cachedContent: 'cachedContents/1', generationConfig: { maxOutputTokens: 16 } }, ...unbounded(gemini, { cachedAudio: contextOf(gemini) - 21_000 }) },
  { name: 'Gemini, recording by address', path: generate(gemini), model: gemini, body: { contents: [{ parts: [{ fileData: { fileUri: 'https://sounds.example/a.mp3', mimeType: 'audio/mpeg' } }] }], generationConfig: { maxOutputTokens: 16 } }, ...unbounded(gemini, { audioIn: contextOf(gemini) - 21_000 }) },
  { name: 'Interactions, base64', path: interactions, model: gemini, body: { model: gemini, input: base64, generation_config: { max_output_tokens: 16 } }, ...full(gemini, bytesOf(base64) + 2) },
  { name: 'Interactions, no limit', path: interactions, model: gemini, body: { model: gemini, input: 'hi' }, ...full(gemini, 2) },
  { name: 'Interactions, recording by address', path: interactions, model: gemini, body: { model: gemini, input: [{ type: 'audio', uri: 'https://sounds.example/a.mp3', mime_type: 'audio/mpeg' }], generation_config: { max_output_tokens: 16 } }, ...unbounded(gemini, { audioIn: contextOf(gemini) - 21_000 }) },
  { name: 'Interactions, video by address', path: interactions, model: gemini, body: { model: gemini, input: { type: 'video', uri: 'https://videos.example/a.mp4' }, generation_config: { max_output_tokens: 16 } }, ...unbounded(gemini) },
  { name: 'Gemini, video out', path: generate(filming), model: filming, body: { contents: [{ parts: [{ text: 'a lamp' }] }], generationConfig: { maxOutputTokens: 500 } }, usage: ({ limit = longest(filming) }) => ({ prompt: 6, output: limit, videoOut: limit }) },
  { name: 'Gemini, video by address', path: generate(gemini), model: gemini, body: { contents: [{ parts: [{ fileData: { fileUri: 'https://videos.example/a.mp4', mimeType: 'video/mp4' } }] }], generationConfig: { maxOutputTokens: 16 } }, ...unbounded(gemini) },
  { name: 'Images, gpt-image-1', path: '/v1/images/generations', model: 'gpt-image-1', body: { prompt: 'a cat', n: 4, size: '1536x1024', quality: 'high' }, usage: () => ({ prompt: 12, output: 4 * 6_208, imageOut: 4 * 6_208, images: 4 }) },
  { name: 'Images, dall-e-3 in its dearest size', path: '/v1/images/generations', model: 'dall-e-3', body: { prompt: 'a cat', size: '1792x1024', quality: 'hd' }, usage: () => ({ prompt: 0, output: 0, images: 1 }) },
  { name: 'Speech by the character', path: '/v1/audio/speech', model: 'tts-1', body: { input: scripts.Cherokee.slice(0, 3000), voice: 'alloy' }, usage: () => ({ prompt: 0, output: 0 }) },
  { name: 'Speech by tokens', path: '/v1/audio/speech', model: 'gpt-4o-mini-tts', body: { input: '你好'.repeat(1500), voice: 'alloy' }, usage: () => ({ prompt: 0, output: 0 }) },
  { name: 'Transcription by seconds', path: '/v1/audio/transcriptions', model: 'whisper-1', body: () => recording('whisper-1'), usage: () => ({ prompt: 0, output: 0, seconds: 4 }) },
] // biome-ignore format: one row a line

function recording(model: string): FormData {
  const form = new FormData()
  form.set('model', model)
  form.set('file', new Blob([new Uint8Array(wav(4))], { type: 'audio/wav' }), 'a.wav')
  return form
}

/** Silence of that many seconds: 8 bits, 8 kHz. */
function wav(seconds: number): Buffer {
  const samples = 8_000 * seconds
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + samples, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8_000, 24)
  head.writeUInt32LE(8_000, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples, 40)
  return Buffer.concat([head, Buffer.alloc(samples, 128)])
}
