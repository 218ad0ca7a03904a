import type { ChatEvent, ChatUsage } from '../../lib/chat-events.ts'
import type { HandedConversation } from '../../lib/handed-conversation.ts'
import type { ChatMessage, ChatRequest, ContentPart } from '../../lib/stream-chat.ts'
import { sentOf } from './parameters.ts'
import type { Settings } from './settings.ts'

/** The parts of a conversation, and how stream events change it. */

/** `loading` waits for the first text, `incomplete` is being written, `stopped` was stopped by its reader. */
type AnswerState = 'loading' | 'incomplete' | 'complete' | 'error' | 'stopped'

export interface Answer {
  readonly id: string
  /** Its column among the models that are compared. */
  readonly lane: number
  readonly model: string
  readonly state: AnswerState
  readonly content: string
  readonly reasoning?: string
  readonly pictures?: readonly string[]
  readonly error?: string
  readonly usage?: ChatUsage
  /** The id of the request in the log. */
  readonly requestId?: string
  readonly firstMs?: number
  readonly durationMs?: number
  /** In units, once the log has it. */
  readonly cost?: number
}

/** A question with the answers of all models that were asked. */
export interface Turn {
  readonly id: string
  readonly question: string
  /** Images of the question, as data URLs. */
  readonly pictures: readonly string[]
  readonly answers: readonly Answer[]
}

export interface Question {
  readonly text: string
  readonly pictures: readonly string[]
}

export const isRunning = ({ state }: Answer): boolean => state === 'loading' || state === 'incomplete'
export const isAnswering = (turns: readonly Turn[]): boolean => turns.some(({ answers }) => answers.some(isRunning))

/** The answer after one more event. `cut`: the stream ended early without an abort. */
export function afterEvent(answer: Answer, event: ChatEvent, { stopped, cut }: { stopped: boolean; cut: string }): Answer {
  switch (event.kind) {
    case 'begun':
      return { ...answer, requestId: event.requestId }
    case 'content':
      return { ...answer, state: 'incomplete', content: answer.content + event.text }
    case 'reasoning':
      return { ...answer, state: 'incomplete', reasoning: (answer.reasoning ?? '') + event.text }
    case 'image':
      return { ...answer, state: 'incomplete', pictures: [...(answer.pictures ?? []), event.url] }
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
 * A model's history in its column: the questions with their answers in that column, and the last question. A question without an
 * answer in the column gets the answer of another column, or is left out when there is none.
 */
export function requestOf(
  settings: Settings,
  { lane, model }: Pick<Answer, 'lane' | 'model'>,
  turns: readonly Turn[],
): ChatRequest {
  const { group, system, parameters } = settings
  const before = turns.slice(0, -1).flatMap((turn) => {
    const said = turn.answers.filter(hasSaid)
    const answer = said.find((one) => one.lane === lane) ?? said[0]
    return answer ? [askedIn(turn), answeredIn(answer)] : []
  })
  const messages = [...before, ...turns.slice(-1).map(askedIn)]
  return {
    group,
    model,
    ...sentOf(parameters),
    messages: system.trim() === '' ? messages : [{ role: 'system', content: system }, ...messages],
  }
}

const hasSaid = ({ content, pictures = [] }: Answer): boolean => content !== '' || pictures.length > 0
const partOf = (url: string): ContentPart => ({ type: 'image_url', image_url: { url } })

function askedIn({ question, pictures }: Turn): ChatMessage {
  if (pictures.length === 0) return { role: 'user', content: question }
  const text: ContentPart[] = question === '' ? [] : [{ type: 'text', text: question }]
  return { role: 'user', content: [...text, ...pictures.map(partOf)] }
}

function answeredIn({ content, pictures = [] }: Answer): ChatMessage {
  return { role: 'assistant', content, ...(pictures.length > 0 ? { images: pictures.map(partOf) } : {}) }
}

const turnsMax = 100
/** Images count by the length of their data URLs. */
const charactersMax = 6_000_000

/** The newest turns within the storage limit; always the last one. */
export function newest(turns: readonly Turn[]): readonly Turn[] {
  let characters = 0
  const first = turns.findLastIndex((turn) => {
    characters += lengthOf(turn)
    return characters > charactersMax
  })
  return turns.slice(Math.max(Math.min(first + 1, turns.length - 1), turns.length - turnsMax, 0))
}

function lengthOf({ question, pictures, answers }: Turn): number {
  const texts = answers.flatMap((answer) => [answer.content, answer.reasoning ?? '', ...(answer.pictures ?? [])])
  return [question, ...pictures, ...texts].reduce((sum, text) => sum + text.length, 0)
}

/** An answer that was being written when the page was closed is stopped; one that this page still writes continues. */
export function settledTurns(turns: readonly Turn[], isWritten: (answer: Answer) => boolean = () => false): readonly Turn[] {
  const hangs = (answer: Answer) => isRunning(answer) && !isWritten(answer)
  const settled = (answer: Answer): Answer => (hangs(answer) ? { ...answer, state: 'stopped' } : answer)
  return turns.some(({ answers }) => answers.some(hangs))
    ? turns.map((turn) => (turn.answers.some(hangs) ? { ...turn, answers: turn.answers.map(settled) } : turn))
    : turns
}

/** The answered questions of a conversation from elsewhere. */
export function turnsOf({ model, turns }: HandedConversation): readonly Turn[] {
  return turns.map(({ text, pictures, answer }, place) => ({
    id: `handed-${place}`,
    question: text,
    pictures,
    answers: [{ id: `handed-${place}-answer`, lane: 0, model, state: 'complete', content: answer }],
  }))
}

const titleLengthMax = 60

/** The default title of a conversation. */
export function titleOf(turns: readonly Turn[]): string {
  const words = turns.find(({ question }) => question !== '')?.question ?? ''
  return words.replace(/\s+/g, ' ').trim().slice(0, titleLengthMax)
}
