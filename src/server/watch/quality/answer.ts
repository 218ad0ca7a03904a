import { isObject, type JsonObject } from '../../gateway/protocols/wire-format.ts'

/** The parts of a Chat reply that expectations can refer to. */
export interface Answer {
  readonly text: string
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[]
  readonly inputTokens: number
  readonly outputTokens: number
}

export function readAnswer(reply: JsonObject): Answer {
  const choice = Array.isArray(reply.choices) ? reply.choices[0] : undefined
  const message = isObject(choice) && isObject(choice.message) ? choice.message : {}
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : []
  const usage = isObject(reply.usage) ? reply.usage : {}
  return {
    text: textOf(message.content),
    toolCalls: calls.flatMap((call) => (isObject(call) && isObject(call.function) ? [toolCallOf(call.function)] : [])),
    inputTokens: countOf(usage.prompt_tokens),
    outputTokens: countOf(usage.completion_tokens),
  }
}

/** The answer as text for people. */
export function shownAnswer({ text, toolCalls }: Answer): string {
  return [text, ...toolCalls.map((call) => `${call.name}(${call.arguments})`)].filter((part) => part !== '').join('\n')
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

function toolCallOf({ name, arguments: given }: JsonObject) {
  return {
    name: typeof name === 'string' ? name : '',
    arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}),
  }
}

function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}
