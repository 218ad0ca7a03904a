import { answerAt, arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { joinedContent, plainContent } from './content-parts.ts'
import { toolMemberOf } from './tool-member.ts'

/**
 * Converts a Chat reply between its two forms. Some upstreams answer a streaming request with one completion, or the other way
 * round; the caller always receives the form that was requested.
 */
export function replayChat({ object, choices: _, usage, ...head }: JsonObject, choices: readonly JsonObject[]): JsonObject[] {
  const chunk = (more: JsonObject): JsonObject => ({ ...head, object: 'chat.completion.chunk', ...more })
  const piece = (choice: JsonObject, delta: JsonObject, finish: unknown) =>
    chunk({
      choices: [
        {
          index: choice.index ?? 0,
          delta,
          ...(choice.logprobs && !finish ? { logprobs: choice.logprobs } : {}),
          finish_reason: finish,
        },
      ],
    })
  const pieces = choices.flatMap((choice) => [
    piece(choice, deltaOf(objectAt(choice, 'message') ?? {}), null),
    piece(choice, {}, choice.finish_reason ?? 'stop'),
  ])
  return usage ? [...pieces, chunk({ choices: [], usage })] : pieces
}

function deltaOf(message: JsonObject): JsonObject {
  const calls = arrayAt(message, 'tool_calls').filter(isObject)
  const kept = Object.entries(message).filter(([key, value]) => value !== null && key !== 'tool_calls')
  return {
    role: 'assistant',
    ...Object.fromEntries(kept),
    content: plainContent(message.content),
    ...(calls.length > 0 ? { tool_calls: calls.map((call, index) => ({ index, ...call })) } : {}),
  }
}

/** Assembles one completion from the chunks of a stream. */
export function gatherChat(chunks: readonly JsonObject[]): JsonObject {
  const choices = new Map<number, Choice>()
  let head: JsonObject = {}
  let usage: unknown

  for (const chunk of chunks) {
    const { choices: pieces, usage: _, ...rest } = chunk
    head = { ...rest, ...head }
    usage = reportedUsage(chunk) ?? usage
    for (const piece of Array.isArray(pieces) ? pieces.filter(isObject) : []) {
      const index = numberOr(piece.index, 0)
      const choice = choices.get(index) ?? { message: { role: 'assistant', content: null }, finish_reason: null }
      addPiece(choice, piece)
      choices.set(index, choice)
    }
  }
  const whole = [...choices].sort(([a], [b]) => a - b).map(([index, choice]) => ({ index, ...choice }))
  return { ...head, object: 'chat.completion', choices: whole, ...(usage ? { usage } : {}) }
}

type Choice = Record<string, unknown> & { readonly message: Record<string, unknown> }

/** Members of hosts beside the delta are kept: their last value that is not null. */
function addPiece(choice: Choice, piece: JsonObject): void {
  for (const [key, value] of Object.entries(piece)) {
    if (key === 'delta') addDelta(choice.message, objectAt(piece, key) ?? {})
    else if (key === 'logprobs' && isObject(value)) choice[key] = joinedLists(objectAt(choice, key), value)
    else if (key === 'message' && isObject(value)) addMessage(choice.message, piece, value)
    else if (key === 'finish_reason') choice[key] = value || choice[key]
    else if (value !== null && !unjoined.has(key)) choice[key] = value
  }
}

const unjoined: ReadonlySet<string> = new Set(['index', 'usage', '__proto__'])

/** Some hosts send a whole message in place of deltas; others repeat earlier content in it. */
function addMessage(message: Record<string, unknown>, piece: JsonObject, whole: JsonObject): void {
  if (!isObject(piece.delta) && message.content === null && message.tool_calls === undefined) addDelta(message, whole)
}

/** Log probabilities: the lists of both. */
function joinedLists(before: JsonObject | undefined, more: JsonObject): JsonObject {
  if (!before) return more
  return Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(more)])].map((key) => {
      const lists = [before[key], more[key]].filter(Array.isArray)
      return [key, lists.length > 0 ? lists.flat() : (more[key] ?? before[key])]
    }),
  )
}

function addDelta(message: Record<string, unknown>, delta: JsonObject): void {
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'content')
      message[key] = value === null || value === undefined ? message[key] : joinedContent(message[key], value)
    else if (key === 'function_call' && isObject(value)) message[key] = joinedInput(objectAt(message, key) ?? {}, value)
    else if (key === 'tool_calls') message[key] = withCalls(arrayAt(message, key), arrayAt(delta, key).filter(isObject))
    else if (typeof value === 'string' && key !== 'role') message[key] = textAt(message, key) + value
    else if (Array.isArray(value)) message[key] = [...arrayAt(message, key), ...value]
    else if (isObject(value) && key === 'audio') message[key] = joinedAudio(objectAt(message, key) ?? {}, value)
    else if (value !== null && key !== '__proto__') message[key] = value
  }
}

function withCalls(before: readonly unknown[], pieces: readonly JsonObject[]): unknown[] {
  const calls = before.filter(isObject)
  for (const [position, { index, ...piece }] of pieces.entries()) {
    const at = Math.min(numberOr(index, position), calls.length)
    const call = calls[at]
    calls[at] = call ? joinedCall(call, piece) : piece
  }
  return calls
}

/** Appends a piece of audio data in base64 and of the transcript. */
function joinedAudio(audio: JsonObject, piece: JsonObject): JsonObject {
  const texts = ['data', 'transcript'].filter((key) => key in audio || key in piece)
  return { ...audio, ...piece, ...Object.fromEntries(texts.map((key) => [key, textAt(audio, key) + textAt(piece, key)])) }
}

/** Id and name are sent once, the arguments in pieces. */
function joinedCall(call: JsonObject, piece: JsonObject): JsonObject {
  const kind = toolMemberOf(call).isCustom ? 'custom' : 'function'
  return { ...call, [kind]: joinedInput(objectAt(call, kind) ?? {}, objectAt(piece, kind) ?? {}) }
}

function joinedInput(had: JsonObject, more: JsonObject): JsonObject {
  const texts = ['arguments', 'input'].filter((key) => key in had || key in more)
  const joined = Object.fromEntries(texts.map((key) => [key, answerAt(had, key) + answerAt(more, key)]))
  return { ...more, ...had, ...joined }
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : otherwise
}

/** The usage in a reply or a chunk: at the top level, in Groq's member, or in a choice, as in Moonshot's older format. */
export function reportedUsage(data: JsonObject): JsonObject | undefined {
  const inChoice = () =>
    arrayAt(data, 'choices')
      .filter(isObject)
      .map((choice) => objectAt(choice, 'usage'))
      .find((usage) => usage !== undefined)
  return objectAt(data, 'usage') ?? objectAt(objectAt(data, 'x_groq') ?? {}, 'usage') ?? inChoice()
}
