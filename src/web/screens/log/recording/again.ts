import type { HandedConversation, HandedQuestion } from '../../../lib/handed-conversation.ts'
import { isJsonObject, parseJson } from '../../../lib/json.ts'

/**
 * A recorded request as a conversation of the playground, from any of the four dialects. Texts and pictures are carried; tools, their
 * calls and their results are counted in `leftOut`.
 */
interface Again {
  readonly conversation: HandedConversation
  readonly leftOut: number
}

type Json = Readonly<Record<string, unknown>>

interface Message extends HandedQuestion {
  readonly role: 'system' | 'user' | 'assistant'
}

/** Undefined for a request that is no conversation, or whose body is truncated. */
export function againOf(url: string, body: string): Again | undefined {
  const json = parseJson(body)
  const [path = ''] = url.split('?', 1)
  const read = readers.find(({ fits }) => fits.test(path))
  if (!isJsonObject(json) || !read) return undefined
  const parts: unknown[] = read.messages(json)
  const messages = parts.flatMap((part) => read.message(part) ?? [])
  const leftOut = parts.length - messages.length + (Array.isArray(json.tools) ? json.tools.length : 0)
  const model = read.model?.(path) ?? (typeof json.model === 'string' ? json.model : '')
  return { conversation: { model, parameters: parametersOf(json), ...conversationOf(messages) }, leftOut }
}

function conversationOf(messages: readonly Message[]): Omit<HandedConversation, 'model' | 'parameters'> {
  const turns: (HandedQuestion & { answer: string })[] = []
  let question = nothing
  for (const message of messages) {
    if (message.role === 'user') question = joined(question, message)
    else if (message.role === 'assistant') {
      const last = turns.at(-1)
      if (last && isEmpty(question)) turns.splice(-1, 1, { ...last, answer: joinedText(last.answer, message.text) })
      else turns.push({ ...question, answer: message.text })
      question = nothing
    }
  }
  const system = messages.flatMap(({ role, text }) => (role === 'system' ? [text] : [])).join('\n\n')
  return { system, turns, question }
}

const nothing: HandedQuestion = { text: '', pictures: [] }
const isEmpty = ({ text, pictures }: HandedQuestion): boolean => text === '' && pictures.length === 0
const joinedText = (one: string, other: string): string => [one, other].filter((text) => text !== '').join('\n\n')
const joined = (one: HandedQuestion, other: HandedQuestion): HandedQuestion => ({
  text: joinedText(one.text, other.text),
  pictures: [...one.pictures, ...other.pictures],
})

interface Reader {
  readonly fits: RegExp
  messages(json: Json): unknown[]
  /** Undefined for a part that is neither text nor image. */
  message(part: unknown): Message | undefined
  model?(path: string): string
}

const readers: readonly Reader[] = [
  {
    fits: /\/chat\/completions$/,
    messages: (json) => listOf(json.messages),
    message: (part) => messageOf(part, (content) => content),
  },
  {
    fits: /\/responses$/,
    messages: (json) => [
      ...systemOf(json.instructions),
      ...(typeof json.input === 'string' ? [{ role: 'user', content: json.input }] : listOf(json.input)),
    ],
    message: (part) =>
      isJsonObject(part) && (part.type ?? 'message') === 'message' ? messageOf(part, (content) => content) : undefined,
  },
  {
    fits: /\/messages$/,
    messages: (json) => [...systemOf(json.system), ...listOf(json.messages)],
    message: (part) => messageOf(part, (content) => content),
  },
  {
    fits: /\/models\/[^/]+:(?:stream)?generateContent$/i,
    messages: (json) => {
      const system = json.systemInstruction ?? json.system_instruction
      return [...(isJsonObject(system) ? [{ role: 'system', parts: system.parts }] : []), ...listOf(json.contents)]
    },
    message: (part) => messageOf(part, (_content, message) => message.parts),
    model: (path) => decodeURIComponent(/\/models\/([^/]+):/.exec(path)?.[1] ?? ''),
  },
]

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const systemOf = (content: unknown): unknown[] => (content === undefined ? [] : [{ role: 'system', content }])

function messageOf(message: unknown, contentOf: (content: unknown, message: Json) => unknown): Message | undefined {
  if (!isJsonObject(message)) return undefined
  const role = roles[String(message.role ?? 'user')]
  const content = contentOf(message.content, message)
  const parts = typeof content === 'string' ? [{ text: content }] : listOf(content).filter(isJsonObject)
  const text = parts.flatMap((part) => (typeof part.text === 'string' && part.thought !== true ? [part.text] : [])).join('\n\n')
  const pictures = parts.flatMap((part) => pictureOf(part) ?? [])
  if (!role || (text === '' && pictures.length === 0)) return undefined
  return { role, text, pictures }
}

const roles: Readonly<Record<string, Message['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  model: 'assistant',
}

/** The URL of an image in any of the dialects. */
function pictureOf(part: Json): string | undefined {
  const { image_url: image, source, inlineData: inline = part.inline_data } = part
  if (typeof image === 'string') return image
  if (isJsonObject(image)) return typeof image.url === 'string' ? image.url : undefined
  if (isJsonObject(source)) return typeof source.url === 'string' ? source.url : dataOf(source.media_type, source.data)
  return isJsonObject(inline) ? dataOf(inline.mimeType ?? inline.mime_type, inline.data) : undefined
}

function dataOf(type: unknown, data: unknown): string | undefined {
  return typeof type === 'string' && typeof data === 'string' && type.startsWith('image/')
    ? `data:${type};base64,${data}`
    : undefined
}

const spellings: Readonly<Record<string, readonly string[]>> = {
  temperature: ['temperature'],
  top_p: ['top_p', 'topP'],
  max_tokens: ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens'],
  frequency_penalty: ['frequency_penalty', 'frequencyPenalty'],
  presence_penalty: ['presence_penalty', 'presencePenalty'],
  seed: ['seed'],
  reasoning_effort: ['reasoning_effort', 'effort'],
}

function parametersOf(json: Json): Record<string, number | string> {
  const places = [json, json.generationConfig, json.generation_config, json.reasoning, json.output_config].filter(isJsonObject)
  const found: Record<string, number | string> = {}
  for (const [name, written] of Object.entries(spellings)) {
    const value = places.flatMap((place) => written.map((spelling) => place[spelling])).find(isSet)
    if (isSet(value)) found[name] = value
  }
  return found
}

const isSet = (value: unknown): value is number | string => typeof value === 'number' || typeof value === 'string'
