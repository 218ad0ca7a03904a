import type { ChatEvent, ChatUsage } from '../../lib/chat-events.ts'
import type { ChatMessage, ChatRequest } from '../../lib/stream-chat.ts'
import type { Settings } from './settings.ts'

/** What a conversation is made of, and how events of the stream change it. */

/** `loading` waits for the first word, `incomplete` is being written, `stopped` was broken off by its reader. */
export type MessageState = 'loading' | 'incomplete' | 'complete' | 'error' | 'stopped'

export interface Message {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly content: string
  readonly state: MessageState
  readonly reasoning?: string
  readonly error?: string
  readonly model?: string
  readonly usage?: ChatUsage
  /** The log knows the request by this id. */
  readonly requestId?: string
  readonly durationMs?: number
}

export const isRunning = ({ state }: Message): boolean => state === 'loading' || state === 'incomplete'

/** The answer after one more event. `cut` is said of a stream that ended early by itself. */
export function afterEvent(answer: Message, event: ChatEvent, { stopped, cut }: { stopped: boolean; cut: string }): Message {
  switch (event.kind) {
    case 'begun':
      return { ...answer, requestId: event.requestId }
    case 'content':
      return { ...answer, state: 'incomplete', content: answer.content + event.text }
    case 'reasoning':
      return { ...answer, state: 'incomplete', reasoning: (answer.reasoning ?? '') + event.text }
    case 'usage':
      return { ...answer, usage: event.usage }
    case 'error':
      return { ...answer, state: 'error', error: event.message }
    case 'done':
      if (event.complete) return { ...answer, state: 'complete' }
      return stopped ? { ...answer, state: 'stopped' } : { ...answer, state: 'error', error: cut }
    default:
      return event satisfies never
  }
}

/**
 * The request of a conversation: its questions with their answers, and the last question. A question that was never answered is left
 * out, as is an answer whose question was deleted.
 */
export function requestOf({ system, ...settings }: Settings, messages: readonly Message[]): ChatRequest {
  const answers = (message: Message | undefined) => message?.role === 'assistant' && message.content !== ''
  const said: ChatMessage[] = messages
    .filter((message, index) =>
      message.role === 'user'
        ? index === messages.length - 1 || answers(messages[index + 1])
        : answers(message) && messages[index - 1]?.role === 'user',
    )
    .map(({ role, content }) => ({ role, content }))
  return { ...settings, messages: system.trim() === '' ? said : [{ role: 'system', content: system }, ...said] }
}

const messagesMax = 100
const charactersMax = 300_000

/** The newest messages that a browser keeps without trouble. */
export function newest(messages: readonly Message[]): readonly Message[] {
  let characters = 0
  const first = messages.findLastIndex(({ content, reasoning = '' }) => {
    characters += content.length + reasoning.length
    return characters > charactersMax
  })
  return messages.slice(Math.max(first + 1, messages.length - messagesMax))
}

export function isMessages(value: unknown): value is readonly Message[] {
  return Array.isArray(value) && value.every(isMessage)
}

function isMessage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { id, role, content, state }: Partial<Record<keyof Message, unknown>> = value
  return (
    typeof id === 'string' &&
    typeof content === 'string' &&
    typeof state === 'string' &&
    (role === 'user' || role === 'assistant')
  )
}
