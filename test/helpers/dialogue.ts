import type {
  Dialogue,
  MediaPart,
  Opaque,
  Part,
  ReasoningPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  Turn,
} from '../../src/server/gateway/protocols/dialogue.ts'

/** A request of a Chat caller with one turn, plus the members that a test adds. */
export function dialogueOf(more: Partial<Dialogue> = {}): Dialogue {
  return {
    from: 'openai.chat',
    model: 'asked',
    system: [],
    turns: [user('Hello')],
    tools: [],
    toolChoice: undefined,
    parallelTools: undefined,
    sampling: {},
    outputTokensMax: undefined,
    stop: [],
    reasoning: undefined,
    output: undefined,
    search: undefined,
    stream: false,
    wantsUsage: true,
    usesFunctions: false,
    user: undefined,
    cacheKey: undefined,
    extra: {},
    ...more,
  }
}

/** A turn of these parts; a string is a text. */
export const user = (...parts: readonly (string | Part)[]): Turn => ({ role: 'user', parts: parts.map(withText) })
export const assistant = (...parts: readonly (string | Part)[]): Turn => ({ role: 'assistant', parts: parts.map(withText) })
export const instruction = (words: string): Turn => ({ role: 'system', parts: [text(words)] })

export const text = (words: string, more: Partial<TextPart> = {}): TextPart => ({ kind: 'text', text: words, ...more })
export const thought = (words: string, opaque?: Opaque): ReasoningPart => ({
  kind: 'reasoning',
  text: words,
  ...(opaque ? { opaque } : {}),
})
export const base64 = (mediaType: string, data = 'AAAA') => ({ kind: 'base64', mediaType, data }) as const
export const media = (kind: MediaPart['media'], source: MediaPart['source'], more: Partial<MediaPart> = {}): MediaPart => ({
  kind: 'media',
  media: kind,
  source,
  ...more,
})
/** An image at an address, or in another source. */
export const image = (more: Partial<MediaPart> = {}) => media('image', { kind: 'url', url: 'https://a.example/b.png' }, more)

/** A call of `get_tide`. */
export const call = (callId: string, more: Partial<ToolCallPart> = {}): ToolCallPart => ({
  kind: 'tool-call',
  callId,
  name: 'get_tide',
  input: '{"port":"Rye"}',
  isCustom: false,
  ...more,
})
/** The result of a call; a string is a text. */
export const result = (callId: string, ...parts: readonly (string | TextPart | MediaPart)[]): ToolResultPart => ({
  kind: 'tool-result',
  callId,
  parts: parts.map(withText),
  isError: false,
  isCustom: false,
})
/** A call and its result, as two turns. */
export const toolTurns = (words = 'high', callId = 'call_1'): [Turn, Turn] => [
  assistant(call(callId)),
  user(result(callId, words)),
]

export const tideTool: Dialogue['tools'][number] = {
  name: 'get_tide',
  description: 'Tide of a port',
  schema: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] },
  strict: undefined,
  custom: undefined,
}

function withText<Other>(part: string | Other): TextPart | Other {
  return typeof part === 'string' ? text(part) : part
}
