import type { RequestContext } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { describedSchema, jsonInstruction } from '../json-answer.ts'
import { lose } from '../lost-fields.ts'
import type { JsonObject } from '../wire-format.ts'
import type { ModelRules } from './models.ts'
import { strictSchema, toolSchema } from './schema.ts'
import type { Thinking } from './thinking.ts'

/** The way a JSON answer is requested: by a format, by a tool that represents the answer, or by instruction. */
export interface AnswerForm {
  readonly format?: JsonObject
  readonly answerTool?: { readonly name: string; readonly input_schema: JsonObject }
  /** Text to append to the system prompt. */
  readonly instruction?: string
}

/**
 * The form of the answer. Models before 4.5 have no format for it: for them a tool is forced whose input is the answer, which is
 * not possible with thinking, nor for types other than objects. Source: protocols notes 3.8.
 */
export function writeOutput(dialogue: Dialogue, context: RequestContext, rules: ModelRules, { isOn }: Thinking): AnswerForm {
  const { output, toolChoice, tools } = dialogue
  if (output === undefined) return {}
  if (output.kind === 'schema') {
    const way = context.quirks.jsonSchema === undefined ? rules.jsonSchema : wayOf(context.quirks.jsonSchema)
    if (way === 'native') return { format: { type: 'json_schema', schema: strictSchema(describedSchema(output)) } }
    const forcesOther = toolChoice !== undefined && tools.length > 0 && toolChoice.kind === 'tool'
    if (way === 'tool' && !isOn && !forcesOther && isObjectSchema(output.schema)) {
      return { answerTool: { name: freeName(tools.map(({ name }) => name)), input_schema: toolSchema(describedSchema(output)) } }
    }
  }
  lose(dialogue, context, 'output')
  return { instruction: jsonInstruction(output) }
}

function wayOf(quirk: 'native' | 'object' | 'none'): ModelRules['jsonSchema'] {
  return quirk === 'native' ? 'native' : 'words'
}

function isObjectSchema({ type }: JsonObject): boolean {
  return type === undefined || type === 'object'
}

function freeName(taken: readonly string[]): string {
  const base = 'json_response'
  if (!taken.includes(base)) return base
  const round = taken.findIndex((_, at) => !taken.includes(`${base}_${at + 2}`))
  return `${base}_${round + 2}`
}
