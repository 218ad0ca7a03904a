import { fail } from '../../base/lib/failure.ts'
import type { RequestContext } from './codec.ts'
import type { Dialogue, Part, ToolCallPart, ToolResultPart, Turn } from './dialogue.ts'
import { fieldNameFor, lose } from './lost-fields.ts'
import { continueText } from './tool-texts.ts'

/**
 * Alternating turns, for formats that require them: neighbours of one role become one turn, with tool results first in a user turn.
 * Empty turns are removed. These formats have no `name` of a speaker: it is written before the text. Source: protocols notes 3.1.
 */
export function mergeTurns(turns: readonly Turn[]): Turn[] {
  const merged: { role: Turn['role']; parts: Part[] }[] = []
  for (const turn of turns) {
    const { role } = turn
    const parts = spokenParts(turn)
    const before = merged.at(-1)
    if (parts.length === 0) continue
    if (before?.role === role) for (const part of parts) before.parts.push(part)
    else merged.push({ role, parts: [...parts] })
  }
  return merged.map(({ role, parts }) => ({ role, parts: role === 'user' ? resultsFirst(parts) : parts }))
}

/**
 * Matching tool calls and results, as upstreams require: every call has a unique id and exactly one result, in the user turn right
 * after its turn, in the order of the calls. A result without a call is removed, a call without a result gets a placeholder. Calls
 * that share an id, or have none, get a number after it; their results are matched in order. Each result gets the name and the kind of
 * its call. Calls in consecutive turns of the model are parallel calls. Source: protocols notes 3.4.
 */
export function repairToolResults(given: readonly Turn[]): readonly Turn[] {
  // Most conversations have no tool calls, and some have tens of thousands of turns.
  if (!given.some(({ parts }) => parts.some(isOfTool))) return given
  const turns = withJoinedCalls(given)
  const callsByTurn = numberedCalls(turns)
  matchResults(turns, callsByTurn)

  const repaired: Turn[] = []
  let owed: readonly ToolResultPart[] = []
  for (const [at, turn] of turns.entries()) {
    if (owed.length > 0 && turn.role !== 'user') repaired.push({ role: 'user', parts: owed })
    const calls = callsByTurn[at] ?? []
    const parts = [...(turn.role === 'user' ? owed : []), ...withIds(turn.parts, calls)]
    if (parts.length > 0 || turn.parts.length === 0) repaired.push({ ...turn, parts })
    owed = calls.map(resultOf)
  }
  if (owed.length > 0) repaired.push({ role: 'user', parts: owed })
  return repaired
}

/**
 * What a model does with a conversation whose last turn is its own: it continues that turn as the beginning of its answer, takes it for
 * complete and answers again, or refuses it.
 */
export type LastTurn = 'begins' | 'complete' | 'refused'

/**
 * The turns with an end that the model can answer. Reasoning at the end is left out: some vendors refuse it there, and the model thinks
 * again. After a last turn of its own the model is asked to continue, unless it takes that turn for complete: agents repeat a request
 * with what they have received of an interrupted answer. Where the caller wrote the beginning of the answer, the model has to continue
 * it. Changes are reported. Throws `untranslatable` for a beginning that the model does not continue.
 */
export function endingAnswerably(
  dialogue: Dialogue,
  context: Pick<RequestContext, 'lose'>,
  { turns, takes }: { readonly turns: readonly Turn[]; readonly takes: LastTurn },
): Turn[] {
  const { isWithoutReasoning, turns: said } = withoutLastReasoning(turns)
  const isOfModel = said.at(-1)?.role === 'assistant'
  if (isOfModel && dialogue.beginsAnswer && takes !== 'begins') {
    const reason = { zh: '该模型不接受由调用方写好开头的回答', en: 'this model takes no beginning of its answer' }
    fail('untranslatable', { field: fieldNameFor(dialogue.from, 'turns'), reason })
  }
  const isAsked = isOfModel && !dialogue.beginsAnswer && takes !== 'complete'
  if (isWithoutReasoning || isAsked) lose(dialogue, context, 'lastTurn')
  return isAsked ? [...said, { role: 'user', parts: [continueText] }] : said
}

/** The turns without reasoning and blank text after the last content of the model. */
function withoutLastReasoning(turns: readonly Turn[]): { turns: Turn[]; isWithoutReasoning: boolean } {
  const left = [...turns]
  let isWithoutReasoning = false
  for (let last = left.pop(); last; last = left.pop()) {
    const end = last.role === 'assistant' ? last.parts.findLastIndex(isContent) + 1 : last.parts.length
    isWithoutReasoning ||= last.parts.slice(end).some(({ kind }) => kind === 'reasoning')
    if (end === 0 && last.role === 'assistant') continue
    return {
      turns: [...left, end === last.parts.length ? last : { ...last, parts: last.parts.slice(0, end) }],
      isWithoutReasoning,
    }
  }
  return { turns: [], isWithoutReasoning }
}

function isContent(part: Part): boolean {
  return part.kind !== 'reasoning' && (part.kind !== 'text' || part.text.trim() !== '')
}

function withJoinedCalls(turns: readonly Turn[]): Turn[] {
  const joined: { turn: Turn; parts: Part[] }[] = []
  for (const turn of turns) {
    const last = joined.at(-1)
    const isOfModel = turn.role === 'assistant' && last?.turn.role === 'assistant'
    if (isOfModel && last.parts.some(isCall) && turn.parts.some(isCall)) for (const part of turn.parts) last.parts.push(part)
    else joined.push({ turn, parts: [...turn.parts] })
  }
  return joined.map(({ turn, parts }) => ({ ...turn, parts }))
}

/** A call of the history, the id that it gets, and its matched result. */
interface Call {
  readonly part: ToolCallPart
  readonly id: string
  result?: ToolResultPart
}

function numberedCalls(turns: readonly Turn[]): Call[][] {
  const uses = new Map<string, number>()
  const taken = new Set(turns.flatMap(({ parts }) => parts.map((part) => (part.kind === 'tool-call' ? part.callId : ''))))
  const freeId = (id: string): string => {
    const use = (uses.get(id) ?? 0) + 1
    uses.set(id, use)
    if (use === 1 && id !== '') return id
    const numbered = `${id || 'call'}_${use}`
    return taken.has(numbered) ? freeId(id) : numbered
  }
  return turns.map(({ role, parts }) =>
    role === 'assistant' ? parts.filter(isCall).map((part) => ({ part, id: freeId(part.callId) })) : [],
  )
}

/** A result belongs to the first earlier call without a result that has the same id, or the same name when the result has no id. */
function matchResults(turns: readonly Turn[], callsByTurn: readonly Call[][]): void {
  const waiting = new Map<string, { calls: Call[]; next: number }>()
  const enqueue = (key: string, call: Call) => {
    const queue = waiting.get(key)
    if (queue) queue.calls.push(call)
    else waiting.set(key, { calls: [call], next: 0 })
  }
  const take = (result: ToolResultPart) => {
    const queue = waiting.get(result.callId !== '' ? `id ${result.callId}` : result.name ? `name ${result.name}` : 'any')
    while (queue?.calls[queue.next]?.result) queue.next++
    const call = queue?.calls[queue.next]
    if (call) call.result = result
  }

  for (const [at, turn] of turns.entries()) {
    for (const part of turn.parts) if (part.kind === 'tool-result') take(part)
    for (const call of callsByTurn[at] ?? []) {
      if (call.part.callId !== '') enqueue(`id ${call.part.callId}`, call)
      enqueue(`name ${call.part.name}`, call)
      enqueue('any', call)
    }
  }
}

function resultOf({ id, part, result }: Call): ToolResultPart {
  const { name, isCustom } = part
  if (result) return { ...result, callId: id, name, isCustom }
  return { kind: 'tool-result', callId: id, name, parts: [{ kind: 'text', text: '(no result)' }], isError: true, isCustom }
}

/** The parts of a turn without its results, and with the new ids of its calls. */
function withIds(parts: readonly Part[], calls: readonly Call[]): Part[] {
  let next = 0
  return parts
    .filter((part) => part.kind !== 'tool-result')
    .map((part) => (part.kind === 'tool-call' ? { ...part, callId: calls[next++]?.id ?? part.callId } : part))
}

function isOfTool(part: Part): boolean {
  return isCall(part) || isResult(part)
}

function isCall(part: Part): part is ToolCallPart {
  return part.kind === 'tool-call'
}

function resultsFirst(parts: readonly Part[]): readonly Part[] {
  if (!parts.some(isResult)) return parts
  return [...parts.filter(isResult), ...parts.filter((part) => !isResult(part))]
}

function isResult(part: Part): boolean {
  return part.kind === 'tool-result'
}

function spokenParts({ parts, name }: Turn): readonly Part[] {
  const first = parts.findIndex((part) => part.kind === 'text')
  if (!name || first < 0) return parts
  return parts.map((part, at) => (at === first && part.kind === 'text' ? { ...part, text: `${name}: ${part.text}` } : part))
}
