import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { resultOf, scenario, steps } from './scenario.ts'
import { Refusal, refuse } from './vendor-server.ts'

/** A request as far as the scenario is concerned, after the vendor's own rules have been checked. Turns alternate. */
export interface Transcript {
  readonly system: string
  readonly tools: readonly { readonly name: string; readonly description?: string | null | undefined }[]
  readonly turns: readonly (UserTurn | ModelTurn)[]
}

export interface UserTurn {
  readonly role: 'user'
  readonly texts: readonly string[]
  readonly images: readonly { readonly mediaType: string; readonly data: string }[]
  readonly results: readonly { readonly id: string; readonly name?: string | undefined; readonly text: string }[]
}

export interface ModelTurn {
  readonly role: 'model'
  readonly callIds: readonly string[]
  /** The content that the vendor requires in the history, in its own form. */
  readonly content: unknown
}

/** The output of a vendor so far, so that it recognizes its own texts, ids and signatures. */
export class Issued {
  readonly #prefix: string
  readonly #byCall = new Map<string, { step: number; callIds: readonly string[]; content: unknown }>()
  #count = 0

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  /** An id that was never issued before. */
  newId(prefix = this.#prefix): string {
    this.#count++
    return `${prefix}${this.#count.toString(36).padStart(4, '0')}Ab9`
  }

  note(step: number, callIds: readonly string[], content: unknown): void {
    for (const id of callIds) this.#byCall.set(id, { step, callIds, content })
  }

  /** The step that a request continues. Throws a Refusal when the agent's history differs from what happened. */
  stepAsked({ system, tools, turns }: Transcript): number {
    if (!system.includes(scenario.instruction)) refuse(`the instructions do not hold "${scenario.instruction}" but "${system}"`)
    for (const tool of scenario.tools) {
      const told = tools.find(({ name }) => name === tool.name)
      if (!told) refuse(`the tool ${tool.name} is missing`)
      if (told.description !== tool.description) refuse(`the tool ${tool.name} is described as "${told.description}"`)
    }
    requireQuestion(turns[0])
    let step = 0
    for (let at = 1; at < turns.length; at += 2, step++) this.#requireTurns(step, turns[at], turns[at + 1])
    if (step >= steps.length) refuse('the scenario is over')
    return step
  }

  #requireTurns(step: number, model: Transcript['turns'][number] | undefined, user: Transcript['turns'][number] | undefined) {
    if (model?.role !== 'model' || user?.role !== 'user') throw new Refusal('turns do not alternate')
    const issued = this.#byCall.get(model.callIds[0] ?? '')
    if (!issued || issued.step !== step) throw new Refusal(`turn ${step + 1} holds calls of other ids: ${model.callIds}`)
    if (!isDeepStrictEqual(model.content, issued.content)) {
      refuse(`turn ${step + 1} came back changed: ${JSON.stringify(model.content)} for ${JSON.stringify(issued.content)}`)
    }
    const expected = issued.callIds.map((id, place) => {
      const call = steps[step]?.calls[place]
      return { id, text: call ? resultOf(call.name, call.input) : '' }
    })
    const results = user.results.map(({ id, text }) => ({ id, text }))
    if (!isDeepStrictEqual(results, expected)) {
      refuse(`results of turn ${step + 1} are ${JSON.stringify(results)} and not ${JSON.stringify(expected)}`)
    }
    if (user.texts.length > 0 || user.images.length > 0) refuse(`the results of turn ${step + 1} have something beside them`)
  }
}

function requireQuestion(turn: Transcript['turns'][number] | undefined): void {
  if (turn?.role !== 'user') throw new Refusal('the first turn is not of the user')
  if (!isDeepStrictEqual(turn.texts, [scenario.question])) refuse(`the question is ${JSON.stringify(turn.texts)}`)
  if (!isDeepStrictEqual(turn.images, [{ mediaType: 'image/png', data: scenario.image }])) {
    refuse(`the image is ${JSON.stringify(turn.images).slice(0, 300)}`)
  }
}

/** The body by the vendor's schema. `word` returns the vendor's error message for the first fault. Throws a Refusal. */
export function requireShape<Shape>(schema: z.ZodType<Shape>, body: unknown, word: (fault: Fault) => string): Shape {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const fault = deepest(result.error.issues)
  throw new Refusal(word(fault))
}

interface Fault {
  readonly path: readonly PropertyKey[]
  readonly message: string
  /** Members that the vendor does not have. */
  readonly unknown: readonly string[]
}

/** If a value may have several forms, the fault is that of the closest form. */
function deepest(issues: readonly z.core.$ZodIssue[], path: readonly PropertyKey[] = []): Fault {
  const faults = issues.map((issue): Fault => {
    const here = [...path, ...issue.path]
    if (issue.code === 'unrecognized_keys') return { path: here, message: issue.message, unknown: issue.keys }
    if (issue.code === 'invalid_union' && issue.errors.length > 0) {
      return issue.errors.map((inner) => deepest(inner, here)).reduce((best, next) => (isDeeper(next, best) ? next : best))
    }
    return { path: here, message: issue.message, unknown: [] }
  })
  return faults.reduce((best, next) => (isDeeper(next, best) ? next : best))
}

function isDeeper(one: Fault, other: Fault): boolean {
  return one.path.length > other.path.length || (one.unknown.length > 0 && one.path.length === other.path.length)
}
