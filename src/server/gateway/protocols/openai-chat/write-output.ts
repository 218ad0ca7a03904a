import { jsonInstruction, mentionsJson } from '../json-answer.ts'
import type { JsonObject } from '../wire-format.ts'
import { fitsStrict } from './strict-schema.ts'
import type { Writing } from './writing.ts'

/**
 * The response format, and the instruction that replaces it where the host does not support it. OpenAI and DeepSeek refuse a JSON
 * answer if the conversation does not contain the word "JSON". Source: protocols notes 3.8, edge case 187.
 */
export function writeOutput(writing: Writing): { members: JsonObject; instructions: readonly string[] } {
  const { dialogue, quirks, rules, loseField } = writing
  const { output } = dialogue
  if (!output) return { members: {}, instructions: [] }

  const support = quirks.jsonSchema ?? rules.jsonSchema ?? 'native'
  if (output.kind === 'schema' && support === 'native') return { members: schemaMembers(writing), instructions: [] }
  if (output.kind === 'schema' || support === 'none') loseField('output')
  const needsTelling = output.kind === 'schema' || support === 'none' || !mentionsJson(dialogue)
  return {
    members: support === 'none' ? {} : { response_format: { type: 'json_object' } },
    instructions: needsTelling ? [jsonInstruction(output)] : [],
  }
}

function schemaMembers({ dialogue: { output, from }, lose }: Writing): JsonObject {
  if (output?.kind !== 'schema') return {}
  const { name, description, schema, strict } = output
  const isOpenAis = from.startsWith('openai.')
  // In formats without `strict`, a schema is always enforced. OpenAI refuses a schema that it cannot enforce.
  const isStrict = isOpenAis ? strict : (strict ?? true) && fitsStrict(schema)
  if (strict === true && !isStrict) lose('strict')
  const declared = {
    name: (name ?? '').replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'response',
    ...(description ? { description } : {}),
    schema,
    ...(isStrict === undefined ? {} : { strict: isStrict }),
  }
  return { response_format: { type: 'json_schema', json_schema: declared } }
}
