import { answerText, isObject, type JsonObject, textAt } from '../wire-format.ts'

/**
 * The content of a message of a reply as parts. OpenAI answers with a text and Mistral with a list of parts; other hosts answer with a
 * list of texts, and, where JSON was requested, with the object itself, a list of objects or a number (Cloudflare). What is no part is
 * read as text, which for anything but texts is its JSON.
 */
export function contentParts(content: unknown): readonly JsonObject[] {
  if (isPart(content)) return [content]
  if (isPartList(content)) return content.map((piece) => (typeof piece === 'string' ? { type: 'text', text: piece } : piece))
  const text = answerText(content)
  return text === '' ? [] : [{ type: 'text', text }]
}

/** All text of the content, the thinking in it included. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return contentParts(content)
    .map((part) =>
      part.type === 'thinking' ? thinkingText(part) : part.type === 'refusal' ? textAt(part, 'refusal') : answerText(part.text),
    )
    .join('')
}

/** The text of a thinking part: a text, or a list of text parts. */
export function thinkingText({ thinking }: JsonObject): string {
  return contentParts(thinking)
    .map((part) => answerText(part.text))
    .join('')
}

/**
 * The content of two pieces of a stream as one: a text, or a list if one of them has parts other than texts. Adjacent texts become one,
 * and so does adjacent thinking, as in a reply that is not streamed.
 */
export function joinedContent(before: unknown, more: unknown): unknown {
  const [first, second] = [plainContent(before), plainContent(more)]
  if (typeof first === 'string' && typeof second === 'string') return first + second
  const joined: JsonObject[] = []
  for (const part of [...contentParts(first), ...contentParts(second)]) {
    const last = joined.at(-1)
    const isMore = last !== undefined && last.type === part.type
    if (isMore && part.type === 'text')
      joined[joined.length - 1] = { ...last, ...part, text: answerText(last.text) + answerText(part.text) }
    else if (isMore && part.type === 'thinking')
      joined[joined.length - 1] = { ...last, ...part, thinking: joinedContent(last.thinking, part.thinking) }
    else joined.push(part)
  }
  return joined
}

/** The content as clients read it: a text, or a list of parts. */
export function plainContent(content: unknown): string | readonly JsonObject[] {
  if (typeof content === 'string') return content
  const hasParts = isPart(content) || (isPartList(content) && content.some(isObject))
  return hasParts ? contentParts(content) : answerText(content)
}

function isPartList(content: unknown): content is readonly (string | JsonObject)[] {
  if (!Array.isArray(content) || !content.every((piece) => typeof piece === 'string' || isTyped(piece))) return false
  return content.some((piece) => typeof piece === 'string' || isPart(piece))
}

function isTyped(value: unknown): boolean {
  return isObject(value) && typeof value.type === 'string'
}

function isPart(value: unknown): value is JsonObject {
  return isObject(value) && partTypes.has(textAt(value, 'type'))
}

/**
 * The types of parts that replies have. Objects of other types are parts only beside one of these: an answer in JSON may have a member
 * `type` too.
 */
const partTypes: ReadonlySet<string> = new Set([
  ...['text', 'output_text', 'thinking', 'refusal', 'image_url', 'audio', 'input_audio', 'file', 'video_url'],
  ...['reference', 'tool_reference', 'tool_file', 'document_url'],
])
