/** Reads the event stream of a chat completion; tolerates partial lines, unknown fields and a missing end. */

export interface ChatUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

export type ChatEvent =
  /** The server accepted the request; its row in the log has this id. */
  | { readonly kind: 'begun'; readonly requestId: string }
  | { readonly kind: 'content'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** An image that the model produced, as a URL; mostly a data URL. */
  | { readonly kind: 'image'; readonly url: string }
  | { readonly kind: 'usage'; readonly usage: ChatUsage }
  | { readonly kind: 'error'; readonly message: string }
  /** `complete` is false when the stream stopped without an end marker or a finish reason. */
  | { readonly kind: 'done'; readonly complete: boolean }

/** Ends with `done` or `error`, whichever comes first. */
export async function* readChatEvents(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<ChatEvent> {
  let finished = false
  for await (const line of lines) {
    if (!line.startsWith('data:')) continue
    const data = line.slice('data:'.length).trim()
    if (data === '[DONE]') {
      yield { kind: 'done', complete: true }
      return
    }
    const chunk = parse(data)
    if (!chunk) continue
    if (chunk.error) {
      yield { kind: 'error', message: readErrorText(data) || data }
      return
    }
    yield* readChunk(chunk)
    finished ||= Boolean(chunk.choices?.[0]?.finish_reason)
  }
  yield { kind: 'done', complete: finished }
}

interface Chunk {
  error?: unknown
  usage?: Partial<ChatUsage> | null
  choices?: {
    delta?: { content?: unknown; reasoning_content?: unknown; reasoning?: unknown; images?: unknown } | null
    finish_reason?: string | null
  }[]
}

function* readChunk({ choices, usage }: Chunk): Generator<ChatEvent> {
  const delta = choices?.[0]?.delta
  const reasoning = delta?.reasoning_content ?? delta?.reasoning
  if (typeof reasoning === 'string' && reasoning !== '') yield { kind: 'reasoning', text: reasoning }
  if (typeof delta?.content === 'string' && delta.content !== '') yield { kind: 'content', text: delta.content }
  for (const url of imagesOf(delta?.images)) yield { kind: 'image', url }
  if (usage)
    yield { kind: 'usage', usage: { prompt_tokens: usage.prompt_tokens ?? 0, completion_tokens: usage.completion_tokens ?? 0 } }
}

function imagesOf(images: unknown): string[] {
  if (!Array.isArray(images)) return []
  // Fields are looked at one by one.
  const urls = images.map((image: { image_url?: { url?: unknown } | null } | null) => image?.image_url?.url)
  return urls.filter((url) => typeof url === 'string')
}

/** A partial or unknown line is skipped. */
function parse(text: string): Chunk | undefined {
  try {
    const value: unknown = JSON.parse(text)
    // Fields are looked at one by one where they are used.
    return typeof value === 'object' && value !== null ? (value as Chunk) : undefined
  } catch {
    return undefined
  }
}

/** The message of an error body in either form, `{ error: { message } }` or the console envelope; otherwise the text itself. */
export function readErrorText(body: string): string {
  const value: { error?: unknown; message?: unknown } | undefined = parse(body)
  if (!value) return body.trim().slice(0, 2000)
  const { error, message } = value
  if (typeof error === 'string') return error
  if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') return error.message
  return typeof message === 'string' ? message : body
}

/** Splits a byte stream into lines, with any line ends and wherever its chunks are split. */
export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      const lines = (rest + decoder.decode(value, { stream: !done })).split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      yield* lines
      if (done) break
    }
    if (rest !== '') yield rest
  } finally {
    reader.cancel().catch(() => {})
  }
}
