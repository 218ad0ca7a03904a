import type { Dialogue, OutputForm } from './dialogue.ts'

/**
 * For formats without JSON answers, or with less of them than was asked for: what the model is told instead. Every model follows it
 * less strictly than a schema of its own, so the field is named as lost beside it.
 */
export function jsonInstruction(output: OutputForm): string {
  const answer = 'Answer with one JSON object and nothing else.'
  return output.kind === 'json' ? answer : `${answer} It must follow this JSON schema:\n${JSON.stringify(output.schema)}`
}

/** The conversation with that instruction behind its own; as it is where there is nothing to tell. */
export function withJsonInstruction(dialogue: Dialogue, output = dialogue.output): Dialogue {
  if (!output) return dialogue
  return { ...dialogue, system: [...dialogue.system, { kind: 'text', text: jsonInstruction(output) }] }
}

/** Whether the word is in what the model reads: some vendors refuse JSON answers without it. */
export function mentionsJson({ system, turns }: Pick<Dialogue, 'system' | 'turns'>): boolean {
  const parts = [...system, ...turns.flatMap((turn) => turn.parts)]
  return parts.some((part) => part.kind === 'text' && /json/i.test(part.text))
}
