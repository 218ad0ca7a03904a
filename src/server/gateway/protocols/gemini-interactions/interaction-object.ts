import type { WriteContext } from '../codec.ts'
import { isObject, type JsonObject } from '../wire-format.ts'

/** The interaction that this server begins to make. */
export function newInteraction({ id, createdAt, model, kept }: WriteContext): JsonObject {
  const created = new Date(createdAt * 1000).toISOString()
  return {
    id: `${ownPrefix}${id}`,
    object: 'interaction',
    status: 'in_progress',
    model,
    created,
    updated: created,
    ...(kept?.previousId ? { previous_interaction_id: kept.previousId } : {}),
  }
}

export const ownPrefix = 'int_'

/**
 * The input as steps. A text and parts of content are those of the user; entries with a role are of the interface before May 2026.
 * Undefined for other values.
 */
export function inputSteps(input: unknown): readonly unknown[] | undefined {
  if (input === undefined || input === null) return []
  if (typeof input === 'string') return [{ type: 'user_input', content: [{ type: 'text', text: input }] }]
  if (isObject(input)) return inputSteps([input])
  if (!Array.isArray(input)) return undefined
  const steps: unknown[] = []
  let content: unknown[] = []
  for (const entry of input) {
    if (isContent(entry)) {
      if (content.length === 0) steps.push({ type: 'user_input', content })
      content.push(entry)
      continue
    }
    content = []
    steps.push(isObject(entry) ? asStep(entry) : entry)
  }
  return steps
}

const contentTypes: ReadonlySet<unknown> = new Set(['text', 'image', 'audio', 'video', 'document'])

function isContent(entry: unknown): boolean {
  return isObject(entry) && contentTypes.has(entry.type)
}

function asStep({ role, ...step }: JsonObject): JsonObject {
  if (step.type !== undefined || typeof role !== 'string') return step
  const { content, ...rest } = step
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return { ...rest, type: role === 'model' ? 'model_output' : 'user_input', content: parts }
}
