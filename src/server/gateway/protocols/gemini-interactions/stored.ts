import type { StoredError, StoredForm } from '../stored-form.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { gatherInteraction, replayInteraction } from './forms.ts'
import { inputSteps, newInteraction, ownPrefix } from './interaction-object.ts'
import { isRunning, readEnd, readFailedInteraction } from './states.ts'

/** Stored interactions. See docs/decisions/0052-stored-interactions.md. */
export const storedInteractions: StoredForm = {
  idPrefix: ownPrefix,
  keyOf: (id) => `interaction ${id}`,
  previousIn: 'previous_interaction_id',
  inputItems: inputSteps,
  // Without its signature a thought means nothing to a model.
  outputAsInput: (interaction) =>
    arrayAt(interaction, 'steps').filter(
      (step) => isObject(step) && (step.type !== 'thought' || textAt(step, 'signature') !== ''),
    ),

  queryNames: new Set(['stream', 'last_event_id', 'include_input', 'alt']),
  eventAfter(query) {
    const id = query.get('last_event_id')
    return id !== null && /^\d{1,9}$/.test(id) ? Number(id) : -1
  },
  isRunning,
  readEnd,
  readFailure: (interaction) => (arrayAt(interaction, 'errors').length > 0 ? readFailedInteraction(interaction) : undefined),
  failureMembers: (error) => ({ errors: [error] }),
  answerIn: (event) => objectAt(event, 'interaction'),

  begin(context) {
    const response = { ...newInteraction(context), steps: [] }
    return { response, events: [numbered({ event_type: 'interaction.created', interaction: response }, 0)] }
  },
  numberOf: (data) => Number(/"event_id":"(\d+)"\}$/.exec(data)?.[1] ?? 0),
  isTerminalEvent: (data) => data.startsWith('{"event_type":"interaction.completed"'),
  closed(begun, events, error) {
    const { steps } = gatherInteraction(events.map((data): JsonObject => JSON.parse(data)))
    return { ...begun, steps, ...endOf(error) }
  },
  closingEvent: (interaction, number) => numbered({ event_type: 'interaction.completed', interaction }, number),
  replayAfter: (interaction, number) =>
    replayInteraction(interaction)
      .map((event, at) => ({ number: at, data: JSON.stringify(event) }))
      .filter((event) => event.number > number),
  eventText: (data) => `event: ${textAt(JSON.parse(data), 'event_type')}\ndata: ${data}\n\n`,
  asRead: (interaction, input) => ({ ...interaction, steps: [...input, ...arrayAt(interaction, 'steps')] }),
  deleted: () => ({}),
}

/** The first event after that of `begin`. */
export const firstNumberInBackground = 1

/** The number comes last, where `numberOf` finds it. */
export function numbered(event: JsonObject, number: number): JsonObject {
  return { ...event, event_id: String(number) }
}

function endOf(error: StoredError | undefined): JsonObject {
  return error ? { status: 'failed', errors: [error] } : { status: 'cancelled' }
}
