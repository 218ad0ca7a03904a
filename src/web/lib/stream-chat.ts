import { sitePath } from './base-path.ts'
import { callerHeaders } from './call.ts'
import { type ChatEvent, linesOf, readChatEvents, readErrorText } from './chat-events.ts'
import { defineTexts, textOf } from './i18n.ts'
import { expireSession } from './session.ts'

/** Streaming chat of the playground: sends the conversation and yields the events of the answer. */

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string | readonly ContentPart[]
  /** Images that an assistant generated. */
  readonly images?: readonly ContentPart[]
}

export interface ChatRequest {
  readonly group: string
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly temperature?: number
  readonly top_p?: number
  readonly max_tokens?: number
  readonly frequency_penalty?: number
  readonly presence_penalty?: number
  readonly seed?: number
  readonly reasoning_effort?: string
}

/**
 * Yields `begun`, then events until `done` or `error`, whichever comes first. An abort ends it with an incomplete `done`; it never
 * throws.
 */
export async function* streamChat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  try {
    const response = await fetch(sitePath('/pg/chat/completions'), {
      method: 'POST',
      headers: { ...callerHeaders(), Accept: 'text/event-stream', 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...request, stream: true, stream_options: { include_usage: true } }),
      signal,
    })
    if (response.status === 401) expireSession()
    yield { kind: 'begun', requestId: response.headers.get('x-oneapi-request-id') ?? '' }
    if (!response.ok || !response.body) {
      yield { kind: 'error', message: readErrorText(await response.text()) || `${response.status} ${response.statusText}` }
      return
    }
    yield* readChatEvents(linesOf(response.body))
  } catch {
    if (signal.aborted) yield { kind: 'done', complete: false }
    else yield { kind: 'error', message: textOf(texts, 'lost') }
  }
}

const texts = defineTexts({
  lost: ['与服务器的连接中断，请检查网络后重试', 'The connection to the server was lost. Check your network and try again.'],
})
