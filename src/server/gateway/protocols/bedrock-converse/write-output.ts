import { strictSchema, toolSchema } from '../anthropic-messages/schema.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, OutputForm } from '../dialogue.ts'
import { describedSchema, jsonInstruction } from '../json-answer.ts'
import { lose } from '../lost-fields.ts'
import type { JsonObject } from '../wire-format.ts'
import type { ConverseRules } from './models.ts'

/** The way a JSON answer is requested: by a format, by a tool that represents the answer, or by instruction. */
interface AnswerForm {
  /** `outputConfig.textFormat`. */
  readonly textFormat?: JsonObject
  readonly answer?: { readonly name: string; readonly schema: JsonObject }
  /** Text to append to the system prompt. */
  readonly instruction?: string
}

/** Source: types of `@aws-sdk/client-bedrock-runtime` 3.1162 (`OutputConfig`) and protocols notes 3.8. */
export function writeOutput(dialogue: Dialogue, context: RequestContext, rules: ConverseRules, canForce: boolean): AnswerForm {
  const { output, tools, toolChoice } = dialogue
  if (output === undefined) return {}
  const { jsonSchema } = context.quirks
  if (output.kind === 'schema' && jsonSchema !== 'none' && jsonSchema !== 'object') {
    if (rules.takesSchemas || jsonSchema === 'native') return { textFormat: schemaFormat(output) }
    const forcesOther = tools.length > 0 && toolChoice?.kind === 'tool'
    const isObjectSchema = output.schema.type === undefined || output.schema.type === 'object'
    if (rules.tools === 'tool' && canForce && !forcesOther && isObjectSchema) {
      return { answer: { name: freeName(tools.map(({ name }) => name)), schema: toolSchema(describedSchema(output)) } }
    }
  }
  lose(dialogue, context, 'output')
  return { instruction: jsonInstruction(output) }
}

/** Bedrock requires the schema as a JSON string. */
function schemaFormat({ name, description, schema }: OutputForm & { kind: 'schema' }): JsonObject {
  const plainName = name?.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'response'
  const jsonSchema = { schema: JSON.stringify(strictSchema(schema)), name: plainName, ...(description ? { description } : {}) }
  return { type: 'json_schema', structure: { jsonSchema } }
}

function freeName(taken: readonly string[]): string {
  let name = 'json_response'
  while (taken.includes(name)) name += '_'
  return name
}
