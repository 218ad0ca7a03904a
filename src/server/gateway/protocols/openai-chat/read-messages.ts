import { fail } from '../../../base/lib/failure.ts'
import type { Part, TextPart, ToolCallPart, ToolResultPart, Turn } from '../dialogue.ts'
import { inputText } from '../tool-input.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { readImages, readParts, textPart } from './read-parts.ts'
import { readPastReasoning, thoughtSignature } from './read-past-reasoning.ts'
import { toolMemberOf } from './tool-member.ts'

/**
 * The messages of a Chat request: leading instructions separately, the rest as turns. Consecutive tool results are parts of one user
 * turn. Empty messages are left out; throws `field_invalid` when none remains. Source: protocols notes 3.1.
 */
export function readMessages(messages: readonly unknown[]): { system: TextPart[]; turns: Turn[]; beginsAnswer?: true } {
  const list = messages.filter(isObject)
  if (list.length < messages.length) refuseMessages('必须都是对象', 'every message must be an object')
  const firstOther = list.findIndex((message) => !isInstruction(message))
  const head = firstOther < 0 ? list.length : firstOther
  const system = list.slice(0, head).flatMap((message, at) => readInstruction(message, at))

  const custom = new Set<string>()
  const turns: { role: Turn['role']; parts: Part[]; name?: string; isResults?: boolean }[] = []
  for (let at = head; at < list.length; at++) {
    const turn = readMessage(list[at] ?? {}, at, custom)
    const before = turns.at(-1)
    if (turn.parts.length === 0) continue
    if (turn.isResults && before?.isResults) before.parts.push(...turn.parts)
    else turns.push({ ...turn, parts: [...turn.parts] })
  }
  if (turns.length === 0 && (system.length === 0 || head < list.length)) refuseMessages('没有内容', 'say nothing')
  return {
    system,
    turns: turns.map(({ isResults: _, ...turn }) => turn),
    ...(beginsAnswer(list.at(-1)) ? ({ beginsAnswer: true } as const) : {}),
  }
}

/** In Chat a last message of the model is an ordinary one, unless a member of Mistral and DeepSeek or of Moonshot marks it. */
function beginsAnswer(last: JsonObject | undefined): boolean {
  return last?.role === 'assistant' && (last.prefix === true || last.partial === true)
}

interface ReadTurn extends Turn {
  readonly isResults?: boolean
}

/** `custom` collects the ids of calls with free-text input, so that their results can be recognized. */
function readMessage(message: JsonObject, at: number, custom: Set<string>): ReadTurn {
  const name = textAt(message, 'name')
  const named = name === '' ? {} : { name }
  const field = `messages[${at}]`
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: readInstruction(message, at) }
    case 'user':
      return { role: 'user', parts: readParts(message.content, `${field}.content`), ...named }
    case 'assistant':
      return { role: 'assistant', parts: readAssistant(message, field, custom), ...named }
    case 'tool':
      return { role: 'user', parts: [readResult(message, field, custom)], isResults: true }
    case 'function':
      return { role: 'user', parts: [{ ...readResult(message, field, custom), ...named }], isResults: true }
    default:
      return fail('field_invalid', { field: `${field}.role`, reason: { zh: '未知的角色', en: 'this role is not known' } })
  }
}

function isInstruction({ role }: JsonObject): boolean {
  return role === 'system' || role === 'developer'
}

function readInstruction(message: JsonObject, at: number): TextPart[] {
  const field = `messages[${at}].content`
  return readParts(message.content, field).map((part) => {
    if (part.kind === 'text') return part
    return fail('untranslatable', { field, reason: { zh: '指令只能是文本', en: 'instructions can only be text' } })
  })
}

/** Reasoning, text and calls. */
function readAssistant(message: JsonObject, field: string, custom: Set<string>): Part[] {
  if (isObject(message.audio))
    fail('untranslatable', { field: `${field}.audio`, reason: { zh: '语音只存于其厂商', en: 'speech is kept by its vendor' } })

  const refusal = textAt(message, 'refusal')
  const parts: Part[] = [
    ...readParts(message.content, `${field}.content`),
    ...(refusal === '' ? [] : [{ kind: 'refusal' as const, text: refusal }]),
    ...readImages(message.images, `${field}.images`),
  ]
  const hasThoughts = parts.some((part) => part.kind === 'reasoning')
  const signature = thoughtSignature(message)
  const signedAt = signature ? parts.findLastIndex((part) => part.kind === 'text') : -1
  return [
    ...(hasThoughts ? [] : readPastReasoning(message)),
    ...parts.map((part, at) => (at === signedAt && part.kind === 'text' ? { ...part, ...signature } : part)),
    ...readCalls(message, custom),
  ]
}

function readCalls(message: JsonObject, custom: Set<string>): ToolCallPart[] {
  const old = objectAt(message, 'function_call')
  const calls = [...arrayAt(message, 'tool_calls').filter(isObject), ...(old ? [{ function: old }] : [])]
  return calls.map((call) => {
    const { called = {}, isCustom } = toolMemberOf(call)
    const callId = textAt(call, 'id')
    if (isCustom) custom.add(callId)
    return {
      kind: 'tool-call',
      callId,
      name: textAt(called, 'name'),
      input: isCustom ? textAt(called, 'input') : inputText(called.arguments),
      isCustom,
      ...thoughtSignature(call),
    }
  })
}

function readResult(message: JsonObject, field: string, custom: ReadonlySet<string>): ToolResultPart {
  const callId = textAt(message, 'tool_call_id')
  const parts = readParts(message.content, `${field}.content`).map((part) => {
    if (part.kind === 'media' || part.kind === 'text') return part
    return textPart('text' in part ? part.text : '')
  })
  return { kind: 'tool-result', callId, parts, isError: false, isCustom: custom.has(callId) }
}

function refuseMessages(zh: string, en: string): never {
  return fail('field_invalid', { field: 'messages', reason: { zh, en } })
}
