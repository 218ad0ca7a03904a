import { isJsonObject, parseJson } from '../../lib/json.ts'

/** Decisions: typed questions about one input, each answered with probabilities. */

export const questionKinds = ['predicate', 'choice', 'score'] as const
type QuestionKind = (typeof questionKinds)[number]

/** A question as it is written in the form. */
export interface QuestionDraft {
  readonly id: string
  readonly kind: QuestionKind
  readonly instructions: string
  /** One on each line, with its description after a colon. A statement has none. */
  readonly options: string
}

interface Option {
  readonly name: string
  readonly probability: number
}

/** The answer to one question; `score` counts levels from 0. Undefined members are not in the answer. */
export interface DecidedAnswer {
  readonly type: string
  readonly probability: number | undefined
  readonly choice: string | undefined
  readonly score: number | undefined
  readonly confidence: number | undefined
  readonly options: readonly Option[]
}

/** What is shown of a request that has failed. */
export interface Failed {
  readonly state: 'error'
  readonly message: string
}

export type Decision =
  | Failed
  | {
      readonly state: 'complete'
      readonly answers: readonly DecidedAnswer[]
      readonly inputTokens: number | undefined
      readonly requestId: string
      /** The model has written the probabilities; they were not measured in it. */
      readonly isTranslated: boolean
    }

/** Whether a question can be sent: it has instructions, and enough options for its kind. */
export function isComplete({ kind, instructions, options }: QuestionDraft): boolean {
  return instructions.trim() !== '' && (kind === 'predicate' || linesOf(options).length >= 2)
}

/** The question as the interface takes it. */
export function writeQuestion({ kind, instructions, options }: QuestionDraft): Record<string, unknown> {
  const question = { type: kind, instructions: instructions.trim() }
  if (kind === 'predicate') return question
  const written = linesOf(options).map((line) => {
    const [name, description] = namedOption(line)
    return { [kind === 'choice' ? 'value' : 'label']: name, ...(description === undefined ? {} : { description }) }
  })
  return { ...question, [kind === 'choice' ? 'choices' : 'levels']: written }
}

/** The name and the description of an option; a line without one of them is the name. */
function namedOption(line: string): [name: string, description?: string] {
  const at = line.search(/[:：]/)
  const [name, description] = [line.slice(0, Math.max(0, at)).trim(), line.slice(at + 1).trim()]
  return name === '' || description === '' ? [line] : [name, description]
}

function linesOf(options: string): string[] {
  return options
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** The answers in the order of their questions, and the tokens of the input. */
export function readDecision(text: string): { answers: readonly DecidedAnswer[]; inputTokens: number | undefined } {
  const body = parseJson(text)
  if (!isJsonObject(body)) return { answers: [], inputTokens: undefined }
  const usage = isJsonObject(body.usage) ? body.usage : {}
  return { answers: listOf(body.answers).map(readAnswer), inputTokens: numberOf(usage.input_tokens) }
}

function readAnswer(answer: Readonly<Record<string, unknown>>): DecidedAnswer {
  const { type, probability, choice, score, confidence, probabilities } = answer
  return {
    type: String(type),
    probability: numberOf(probability),
    choice: choice === undefined ? undefined : String(choice),
    score: numberOf(score),
    confidence: numberOf(confidence),
    options: listOf(probabilities).map((option) => ({
      name: String(option.label ?? option.value),
      probability: numberOf(option.probability) ?? 0,
    })),
  }
}

function listOf(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
