import type { EventWriter, Inbound, WriteContext } from '../codec.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import type { JsonObject, UpstreamErrorFacts } from '../wire-format.ts'
import { newInteraction } from './interaction-object.ts'
import { errorEventText } from './interactions.ts'
import { StepWriter } from './step-writer.ts'
import { firstNumberInBackground, numbered } from './stored.ts'
import { writeInteractionUsage } from './usage.ts'

/** Writes a complete reply: the interaction of a stream's last event. Source: types of the official SDK 3.1. */
export const writeInteraction: Inbound['writeReply'] = (events, context) => {
  const writer = new InteractionWriter(context)
  for (const event of events) writer.take(event)
  return writer.interaction
}

/** Writes a stream, whose last event repeats all steps. */
export const writeInteractionEvents: Inbound['writeEvents'] = (context) => {
  const writer = new InteractionWriter(context)
  const stream: EventWriter = {
    push: (event) =>
      event.type === 'error' && !writer.isStored
        ? errorEventText(event.error)
        : writer
            .take(event)
            .map((data) => `event: ${data.event_type}\ndata: ${JSON.stringify(data)}\n\n`)
            .join(''),
  }
  return stream
}

class InteractionWriter {
  /** It runs in the background: its first event was written when it began, and its end is stored. */
  readonly isStored: boolean
  interaction: JsonObject
  readonly #steps: StepWriter
  readonly #now: () => number
  #reason: FinishReason = 'stop'
  #explanation: string | undefined
  #made: JsonObject[] = []
  #number: number

  constructor(context: WriteContext) {
    this.isStored = context.kept?.isBackground === true
    this.interaction = newInteraction(context)
    this.#number = this.isStored ? firstNumberInBackground : 0
    this.#now = () => context.completedAt?.() ?? context.createdAt
    this.#steps = new StepWriter(context, (event) => this.#add(event))
  }

  take(event: ReplyEvent): JsonObject[] {
    this.#take(event)
    const made = this.#made
    this.#made = []
    return made
  }

  #take(event: ReplyEvent): void {
    switch (event.type) {
      case 'start':
        if (!this.isStored) this.#add({ event_type: 'interaction.created', interaction: this.interaction })
        return
      case 'usage':
        this.interaction = { ...this.interaction, usage: writeInteractionUsage(event.usage) }
        return
      case 'finish':
        this.#reason = event.reason
        this.#explanation = event.explanation
        return
      case 'end':
        this.#steps.finish()
        this.#end({ status: statusOf(this.#reason), ...explained(this.#explanation) })
        return
      case 'error':
        this.#steps.finish()
        this.#end({ status: 'failed', errors: [errorOf(event.error)] })
        return
      default:
        this.#steps.take(event)
    }
  }

  #end(members: JsonObject): void {
    const { usage, ...begun } = this.interaction
    const updated = new Date(this.#now() * 1000).toISOString()
    this.interaction = { ...begun, ...members, updated, steps: this.#steps.steps, ...(usage ? { usage } : {}) }
    this.#add({ event_type: 'interaction.completed', interaction: this.interaction })
  }

  #add(event: JsonObject): void {
    this.#made.push(numbered(event, this.#number++))
  }
}

/** The vendor waits for the results of calls, and tells every other early end apart from a complete answer. */
function statusOf(reason: FinishReason): string {
  if (reason === 'tool-calls') return 'requires_action'
  return reason === 'stop' || reason === 'stop-sequence' ? 'completed' : 'incomplete'
}

function explained(explanation: string | undefined): JsonObject {
  return explanation ? { errors: [{ code: 'SAFETY', message: explanation }] } : {}
}

function errorOf({ code, message }: UpstreamErrorFacts): JsonObject {
  return { code: code || 'UNAVAILABLE', message }
}
