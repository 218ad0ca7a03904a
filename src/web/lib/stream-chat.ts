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

/** How often a stream is continued after a cut, and the pauses before the first and the last of these tries. */
const continuations = { most: 6, firstMs: 300, lastMs: 8000 }

/** The events that were read of an answer, by the id of its request. */
interface Progress {
  requestId: string
  /** The number of the last event. */
  number: number
}

/**
 * Yields `begun`, then events until `done` or `error`, whichever comes first. A cut stream is continued; an abort stops the answer at the
 * server too, and ends with an incomplete `done`. It never throws.
 */
export async function* streamChat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  const first = () =>
    fetch(sitePath('/pg/chat/completions'), {
      method: 'POST',
      headers: { ...callerHeaders(), Accept: 'text/event-stream', 'Content-Type': 'application/json', 'x-sluice-resume': '1' },
      body: JSON.stringify({ ...request, stream: true, stream_options: { include_usage: true } }),
      signal,
    })
  yield* readOn(first, { requestId: '', number: 0 }, signal)
}

/** The events of an answer that was begun before, from its beginning; undefined when the server does not have it any more. */
export async function continueChat(requestId: string, signal: AbortSignal): Promise<AsyncGenerator<ChatEvent> | undefined> {
  const progress: Progress = { requestId, number: 0 }
  const response = await eventsOf(progress, signal).catch(() => undefined)
  if (response?.ok) return readOn(() => Promise.resolve(response), progress, signal)
  await response?.body?.cancel()
  return undefined
}

/** Reads the answer of `first`, and continues it behind the last event as often as its connection is lost. */
async function* readOn(first: () => Promise<Response>, progress: Progress, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  for (let tries = 0; ; tries++) {
    try {
      const response = tries === 0 ? await first() : await eventsOf(progress, signal)
      if (response.status === 401) expireSession()
      if (tries === 0) {
        progress.requestId ||= response.headers.get('x-oneapi-request-id') ?? ''
        yield { kind: 'begun', requestId: progress.requestId }
      }
      if (!response.ok || !response.body) {
        yield { kind: 'error', message: readErrorText(await response.text()) || `${response.status} ${response.statusText}` }
        return
      }
      yield* readChatEvents(noting(linesOf(response.body), progress))
      return
    } catch {
      if (signal.aborted) {
        stopAtServer(progress)
        yield { kind: 'done', complete: false }
        return
      }
      // Without an event there is nothing to continue.
      if (progress.number === 0 || tries === continuations.most) {
        yield { kind: 'error', message: textOf(texts, 'lost') }
        return
      }
      const pauseMs = Math.min(continuations.firstMs * 2 ** tries, continuations.lastMs)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}

function eventsOf({ requestId, number }: Progress, signal: AbortSignal): Promise<Response> {
  return fetch(sitePath(`/pg/requests/${encodeURIComponent(requestId)}/events?starting_after=${number}`), {
    headers: { ...callerHeaders(), Accept: 'text/event-stream' },
    signal,
  })
}

/** Notes the number of each event that has passed as a whole. */
async function* noting(lines: AsyncIterable<string>, progress: Progress): AsyncGenerator<string> {
  let { number } = progress
  for await (const line of lines) {
    const id = /^id:.*\.(\d+)$/.exec(line)?.[1]
    if (id !== undefined) number = Number(id)
    yield line
    if (line === '') progress.number = number
  }
}

/** Otherwise the answer would go on, and cost, until its grace is over. */
function stopAtServer({ requestId }: Progress): void {
  if (requestId === '') return
  const path = sitePath(`/pg/requests/${encodeURIComponent(requestId)}/cancel`)
  fetch(path, { method: 'POST', headers: callerHeaders(), keepalive: true }).catch(() => {})
}

const texts = defineTexts({
  lost: ['与服务器的连接中断，请检查网络后重试', 'The connection to the server was lost. Check your network and try again.'],
})
