import { fail } from '../../../base/lib/failure.ts'
import { arrayAt, definedMembers, isObject, type JsonObject, textAt } from '../wire-format.ts'

/** The steps of an interaction as contents of generateContent: one for each step, which its reader joins to turns. */
export function contentsOf(steps: readonly unknown[]): JsonObject[] {
  return steps.map((step, at) => {
    if (!isObject(step)) return fail('field_invalid', { field: `input[${at}]`, reason: 'must be an object' })
    return contentOf(step, at)
  })
}

function contentOf(step: JsonObject, at: number): JsonObject {
  const type = textAt(step, 'type')
  switch (type) {
    case 'user_input':
      return { role: 'user', parts: partsOf(step.content) }
    case 'model_output':
      return { role: 'model', parts: partsOf(step.content) }
    case 'thought':
      return { role: 'model', parts: thoughtParts(step) }
    case 'function_call': {
      const { id, name, arguments: args } = step
      return { role: 'model', parts: [signed({ functionCall: { id, name, args } }, step)] }
    }
    case 'function_result':
      return { role: 'user', parts: [resultPart(step)] }
    default:
      return { role: 'model', parts: hostedParts(step, type, at) }
  }
}

function partsOf(content: unknown): JsonObject[] {
  if (typeof content === 'string') return [{ text: content }]
  return (Array.isArray(content) ? content : [content]).filter(isObject).map(partOf)
}

function partOf(content: JsonObject): JsonObject {
  if (content.type === 'text' || content.type === undefined) return { text: textAt(content, 'text') }
  const { data, uri, mime_type: mimeType } = content
  const resolution = textAt(content, 'resolution')
  const detail = resolution === '' ? {} : { mediaResolution: { level: `MEDIA_RESOLUTION_${resolution.toUpperCase()}` } }
  return typeof data === 'string' && data !== ''
    ? { inlineData: definedMembers({ data, mimeType }), ...detail }
    : { fileData: definedMembers({ fileUri: uri, mimeType }), ...detail }
}

/** A thought is its summary, its signature, or both. */
function thoughtParts(step: JsonObject): JsonObject[] {
  const text = arrayAt(step, 'summary')
    .filter(isObject)
    .map((part) => textAt(part, 'text'))
    .join('\n')
  return text === '' && textAt(step, 'signature') === '' ? [] : [signed({ text, thought: true }, step)]
}

function signed(part: JsonObject, step: JsonObject): JsonObject {
  const signature = textAt(step, 'signature')
  return signature === '' ? part : { ...part, thoughtSignature: signature }
}

/** A result may be a text, an object, or parts of content; media in it follow its text. */
function resultPart({ call_id: id, name, result, is_error: isError }: JsonObject): JsonObject {
  const contents = Array.isArray(result) ? result.filter(isObject) : []
  const texts = contents.filter(({ type }) => type === 'text').map((content) => textAt(content, 'text'))
  const media = contents.filter(({ type }) => type !== 'text').map(partOf)
  const output = Array.isArray(result) ? texts.join('\n') : (result ?? '')
  return {
    functionResponse: {
      ...definedMembers({ id, name }),
      response: { [isError === true ? 'error' : 'output']: output },
      ...(media.length > 0 ? { parts: media } : {}),
    },
  }
}

/** A call of a tool that Google runs, or its result, under the name of the tool. */
function hostedParts(step: JsonObject, type: string, at: number): JsonObject[] {
  const [, name, kind] = /^(\w+)_(call|result)$/.exec(type) ?? []
  if (name === undefined) return fail('field_invalid', { field: `input[${at}].type`, reason: 'this type is not known' })
  const toolType = name.toUpperCase()
  if (kind === 'call') return [{ toolCall: { toolType, args: step.arguments } }]
  return [{ toolResponse: { toolType, response: step.result } }]
}
