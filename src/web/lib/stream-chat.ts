import { callerHeaders } from './call.ts'
import { type ChatEvent, linesOf, readChatEvents, readErrorText } from './chat-events.ts'

/** Streaming chat of the playground: sends the conversation and yields what the answer brings. */

export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export interface ChatRequest {
  readonly group: string
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly temperature: number
  /** 0 leaves the limit to the model. */
  readonly max_tokens: number
}

/** Yields until `done` or `error`, whichever comes first. An abort ends it with `done`, not complete; it never throws. */
export async function* streamChat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  try {
    const response = await fetch('/pg/chat/completions', {
      method: 'POST',
      headers: { ...callerHeaders(), Accept: 'text/event-stream', 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...request, stream: true }),
      signal,
    })
    if (!response.ok || !response.body) {
      yield { kind: 'error', message: readErrorText(await response.text()) || `${response.status} ${response.statusText}` }
      return
    }
    yield* readChatEvents(linesOf(response.body))
  } catch (cause) {
    if (signal.aborted) yield { kind: 'done', complete: false }
    else yield { kind: 'error', message: cause instanceof Error ? cause.message : String(cause) }
  }
}
