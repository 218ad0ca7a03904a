import type { Dialogue, OutputForm } from './dialogue.ts'
import type { JsonObject } from './wire-format.ts'

/**
 * The instruction for formats without JSON answers, or with a weaker form than requested. Models follow it less strictly than a
 * schema, so the field is reported as lost as well.
 */
export function jsonInstruction(output: OutputForm): string {
  const answer = 'Answer with one JSON object and nothing else.'
  return output.kind === 'json'
    ? answer
    : `${answer} It must follow this JSON schema:\n${JSON.stringify(describedSchema(output))}`
}

/** The schema of an answer, with the description that other formats have beside it. */
export function describedSchema({ schema, description }: OutputForm & { readonly kind: 'schema' }): JsonObject {
  return description && schema.description === undefined ? { ...schema, description } : schema
}

/** The conversation with that instruction after its own; unchanged if no JSON answer is requested. */
export function withJsonInstruction(dialogue: Dialogue, output = dialogue.output): Dialogue {
  if (!output) return dialogue
  return { ...dialogue, system: [...dialogue.system, { kind: 'text', text: jsonInstruction(output) }] }
}

/** Whether the model's input contains the word "JSON": some vendors refuse JSON answers without it. */
export function mentionsJson({ system, turns }: Pick<Dialogue, 'system' | 'turns'>): boolean {
  const parts = [...system, ...turns.flatMap((turn) => turn.parts)]
  return parts.some((part) => part.kind === 'text' && /json/i.test(part.text))
}
