import type { Dialogue, OutputForm } from './dialogue.ts'

/**
 * The instruction for formats without JSON answers, or with a weaker form than requested. Models follow it less strictly than a
 * schema, so the field is reported as lost besides.
 */
export function jsonInstruction(output: OutputForm): string {
  const answer = 'Answer with one JSON object and nothing else.'
  return output.kind === 'json' ? answer : `${answer} It must follow this JSON schema:\n${JSON.stringify(output.schema)}`
}

/** The conversation with that instruction after its own; unchanged where there is none. */
export function withJsonInstruction(dialogue: Dialogue, output = dialogue.output): Dialogue {
  if (!output) return dialogue
  return { ...dialogue, system: [...dialogue.system, { kind: 'text', text: jsonInstruction(output) }] }
}

/** Whether the model's input contains the word "JSON": some vendors refuse JSON answers without it. */
export function mentionsJson({ system, turns }: Pick<Dialogue, 'system' | 'turns'>): boolean {
  const parts = [...system, ...turns.flatMap((turn) => turn.parts)]
  return parts.some((part) => part.kind === 'text' && /json/i.test(part.text))
}
