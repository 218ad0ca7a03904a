import type { Opaque } from '../dialogue.ts'
import type { ReplyBuilder } from '../reply-builder.ts'
import { isObject, type JsonObject, textAt } from '../wire-format.ts'
import { thoughtSignature } from './read-past-reasoning.ts'
import { toolMemberOf } from './tool-member.ts'

/** A call as received so far. */
interface Call {
  readonly key: string
  readonly isCustom: boolean
  id: string
  name: string
  input: string
  /** The length of the input that was already written. */
  sent: number
  isOpen: boolean
  opaque: Opaque | undefined
}

/**
 * Assembles tool calls from their deltas, which hosts split and number in many ways: without indices, with one index for several
 * calls, with ids and names in every chunk or in none. A call is opened once its name is complete, which its first input shows.
 * Source: protocols notes 3.3 and edge cases 61 to 73.
 */
export class ChatCalls {
  readonly #reply: ReplyBuilder
  readonly #newCallId: () => string
  readonly #calls: Call[] = []
  readonly #byIndex = new Map<number, Call>()
  readonly #byId = new Map<string, Call>()
  readonly #usedIds = new Set<string>()

  constructor(reply: ReplyBuilder, newCallId: () => string) {
    this.#reply = reply
    this.#newCallId = newCallId
  }

  get hasAny(): boolean {
    return this.#calls.length > 0
  }

  /** Adds the pieces of calls in one delta. */
  push(pieces: readonly unknown[]): void {
    const calls = pieces.filter(isObject)
    for (const [position, piece] of calls.entries())
      this.#add(piece, this.#callOf(piece, calls.length > 1 ? position : undefined))
  }

  /** Adds a piece of the older `function_call`: one call without id and index. */
  pushFunction(called: JsonObject): void {
    this.push([{ index: -1, function: called }])
  }

  /** Attaches opaque state to the first call, if nothing else in the reply can hold it. */
  seal(opaque: Opaque): void {
    const first = this.#calls[0]
    if (first) first.opaque ??= opaque
  }

  /** Ends all calls. A call without input gets `{}`, unless the reply was truncated; a call that never had a name is dropped. */
  close(isCut: boolean): void {
    for (const call of this.#calls) {
      if (call.name === '') continue
      this.#open(call)
      const isEmpty = call.sent === 0 && isNothing(call.input)
      if (!isEmpty) this.#send(call)
      else if (!call.isCustom && !isCut) this.#reply.callInput(call.key, '{}')
      if (call.opaque) this.#reply.sealCall(call.key, call.opaque)
      this.#reply.closeCall(call.key, { isCut: isCut && (isEmpty || call === this.#calls.at(-1)) })
    }
    this.#calls.length = 0
  }

  #callOf(piece: JsonObject, position: number | undefined): Call {
    const id = textAt(piece, 'id')
    const index = indexOf(piece)
    const known = index === undefined ? this.#unnumbered(id, calledOf(piece), position) : this.#byIndex.get(index)
    const call = known && !this.#isAnother(known, piece) ? known : this.#begin(piece)
    if (index !== undefined) this.#byIndex.set(index, call)
    if (id !== '') this.#byId.set(id, call)
    return call
  }

  /**
   * Finds the call of a piece without index: by its id; else by its position among several pieces; else the last call, unless a
   * name begins a new one.
   */
  #unnumbered(id: string, called: JsonObject, position: number | undefined): Call | undefined {
    if (id !== '') return this.#byId.get(id)
    if (position !== undefined) return this.#calls[position]
    const last = this.#calls.at(-1)
    return textAt(called, 'name') !== '' && last?.input !== '' ? undefined : last
  }

  /**
   * Whether a piece with a name begins a new call at an index already in use: with another id, or, without ids, after a complete
   * input.
   */
  #isAnother(call: Call, piece: JsonObject): boolean {
    const name = textAt(calledOf(piece), 'name')
    if (name === '') return false
    const id = textAt(piece, 'id')
    if (id !== '' && call.id !== '') return id !== call.id
    return id === '' && call.id === '' && call.input !== '' && (name !== call.name || isWhole(call.input))
  }

  #begin(piece: JsonObject): Call {
    const { isCustom } = toolMemberOf(piece)
    const key = `call ${this.#calls.length}`
    const call: Call = { key, isCustom, id: '', name: '', input: '', sent: 0, isOpen: false, opaque: undefined }
    this.#calls.push(call)
    return call
  }

  #add(piece: JsonObject, call: Call): void {
    const called = calledOf(piece)
    const id = textAt(piece, 'id')
    if (!call.isOpen) call.name = joinedName(call, textAt(called, 'name'), id)
    if (call.id === '') call.id = id
    call.opaque ??= thoughtSignature(piece).opaque
    call.input += inputIn(called)
    if (call.name === '' || isNothing(call.input)) return
    if (!call.isOpen) this.#openEarlier(call)
    this.#open(call)
    this.#send(call)
  }

  /** Calls are opened in the order in which they began: when a later call is opened, the names of earlier ones are complete. */
  #openEarlier(call: Call): void {
    for (const earlier of this.#calls) {
      if (earlier === call) return
      if (earlier.name !== '') this.#open(earlier)
    }
  }

  #open(call: Call): void {
    if (call.isOpen) return
    const { key, name, isCustom } = call
    const callId = call.id === '' || this.#usedIds.has(call.id) ? this.#newCallId() : call.id
    this.#usedIds.add(callId)
    this.#reply.openCall(key, { callId, name, isCustom })
    call.isOpen = true
  }

  #send(call: Call): void {
    this.#reply.callInput(call.key, call.input.slice(call.sent))
    call.sent = call.input.length
  }
}

function calledOf(piece: JsonObject): JsonObject {
  return toolMemberOf(piece).called ?? {}
}

function indexOf({ index }: JsonObject): number | undefined {
  const number = typeof index === 'string' && index !== '' ? Number(index) : index
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined
}

/** Joins a name that was sent in pieces; a repeated or extended name replaces it. */
function joinedName(call: Call, name: string, id: string): string {
  if (name === '' || name === call.name) return call.name
  if (call.name === '') return name
  const isRepeated = id !== '' && id === call.id
  if (isRepeated) return name.startsWith(call.name) ? name : call.name
  return call.name + name
}

function inputIn(called: JsonObject): string {
  const input = called.arguments ?? called.input
  if (typeof input === 'string') return input
  return input === undefined || input === null ? '' : JSON.stringify(input)
}

/** Hosts send an absent input as '' or 'null'. */
function isNothing(input: string): boolean {
  const trimmed = input.length > 16 ? input : input.trim()
  return trimmed === '' || trimmed === 'null'
}

function isWhole(input: string): boolean {
  try {
    JSON.parse(input)
    return true
  } catch {
    return false
  }
}
