import { AppError } from '../../src/server/base/lib/failure.ts'
import type { RequestContext } from '../../src/server/gateway/protocols/codec.ts'
import { formats } from '../../src/server/gateway/protocols/index.ts'
import { leaveOutVendorTools, loseUnread } from '../../src/server/gateway/protocols/lost-fields.ts'
import { isObject, type JsonObject } from '../../src/server/gateway/protocols/wire-format.ts'
import { codecOf, inboundOf } from '../helpers/codecs.ts'
import {
  baseOf,
  type Dialect,
  dialects,
  extraOf,
  isOnlySource,
  openEntry,
  openSample,
  sampleOf,
  standsElsewhere,
  wholeBody,
} from './request-samples.ts'
import type { Member, ObjectShape, RequestTypes, Shape } from './request-types.ts'

/**
 * What becomes of every member of a request on its way to another dialect. The members are those of the SDK's types; each is put into
 * a small request, which is read and written with it and without it.
 */

/** `silent`: neither the written request nor the receipt shows that the member was there. */
type Fate = 'carried' | 'named' | 'refused' | 'silent'

export interface Row {
  readonly from: Dialect
  /** The path of the member: `tools[]{type:function}.strict`. */
  readonly path: string
  readonly fates: Readonly<Partial<Record<Dialect, Fate>>>
}

export function rowsOf(types: RequestTypes, from: Dialect): Row[] {
  const walk = new Walk(types, from)
  walk.members(
    types.bodyOf(from),
    { path: '', put: (value) => wholeBody(from, isObject(value) ? value : {}) },
    {
      targets: dialects.filter((to) => to !== from),
      ids: [],
    },
  )
  return walk.rows
}

/** A place in the request. `put` makes the body with a value there, or without one. */
interface Spot {
  readonly path: string
  put(value: unknown): JsonObject
}

interface Around {
  /** The dialects that carry the object around. */
  readonly targets: readonly Dialect[]
  /** The types of the objects around, since some contain themselves. */
  readonly ids: readonly number[]
}

const depthMax = 9

class Walk {
  readonly rows: Row[] = []
  readonly #types: RequestTypes
  readonly #from: Dialect
  readonly #written = new Map<string, Written>()

  constructor(types: RequestTypes, from: Dialect) {
    this.#types = types
    this.#from = from
  }

  /** Every member of an object at a spot. */
  members(object: ObjectShape, spot: Spot, around: Around): void {
    if (around.targets.length === 0 || around.ids.includes(object.id) || around.ids.length > depthMax) return
    const inside = { ...around, ids: [...around.ids, object.id] }
    const whole = this.#objectSample(object, spot.path)
    for (const member of object.members) {
      const path = spot.path === '' ? member.name : `${spot.path}.${member.name}`
      if (isSkipped(this.#from, path)) continue
      const { [member.name]: _, ...others } = baseOf(this.#from, spot.path, member.name, whole)
      // An empty object has no effect, and one that needs the member is not valid: the request is judged without it.
      const without = Object.keys(others).length === 0 || isOnlySource(member.name, whole) ? undefined : others
      const put = (value: unknown) => spot.put(value === undefined ? without : { ...others, [member.name]: value })
      this.#member(member, { path, put }, inside)
    }
  }

  #member({ name, isOptional, type }: Member, spot: Spot, around: Around): void {
    const shape = this.#types.shapeOf(type)
    const open = openSample(name)
    if (open !== undefined || shape.isOpen) {
      if (isOptional) this.#judge(spot, open ?? { a: 'b' }, around)
      return
    }
    const scalar = scalarOf(shape, spot.path, name)
    if (isOptional && scalar !== undefined) this.#judge(spot, scalar, around)
    this.#alternatives(shape, spot, { ...around, isOptional })
  }

  #alternatives({ objects, elements }: Shape, spot: Spot, around: Around & { readonly isOptional: boolean }): void {
    for (const object of objects) {
      const path = spot.path + labelOf(object, this.#types)
      if (standsElsewhere(this.#from, path)) continue
      const sample = this.#objectSample(object, path)
      const at = { path, put: spot.put }
      const isJudged = (around.isOptional || path.endsWith('}')) && Object.keys(sample).length > 0
      const targets = isJudged ? this.#judge(at, sample, around) : around.targets
      this.members(object, at, { ...around, targets })
    }
    for (const element of elements) {
      const shape = this.#types.shapeOf(element)
      const path = `${spot.path}[]`
      const beside = path.endsWith('parts[]') ? [{ text: 'Hello' }] : this.#textIn(shape, path)
      const list = {
        path,
        put(value: unknown) {
          const entries = value === undefined ? beside : [...beside, value]
          return spot.put(entries.length === 0 ? undefined : entries)
        },
      }
      const scalar = scalarOf(shape, list.path, spot.path.split('.').at(-1) ?? '')
      if (scalar !== undefined && shape.objects.length === 0) this.#judge(list, scalar, around)
      if (shape.isOpen) this.#judge(list, openEntry(list.path), around)
      this.#alternatives(shape, list, { ...around, isOptional: true })
    }
  }

  /** A text for a list of parts, so that it is not empty without the part that is put into it. */
  #textIn({ objects }: Shape, path: string): JsonObject[] {
    const text = objects.find((object) => /^\{type:(input_|output_)?text\}$/.test(labelOf(object, this.#types)))
    return text ? [this.#objectSample(text, path)] : []
  }

  /** Notes what becomes of a value; returns the dialects that carry it. */
  #judge(spot: Spot, value: unknown, { targets }: Around): Dialect[] {
    const fates: Partial<Record<Dialect, Fate>> = {}
    const carrying: Dialect[] = []
    for (const to of targets) {
      const [with_, without] = [this.#write(spot.put(value), to), this.#write(spot.put(undefined), to)]
      const { fate, isWritten } = compare(with_, without, spot.path)
      fates[to] = fate
      if (isWritten) carrying.push(to)
    }
    this.rows.push({ from: this.#from, path: spot.path, fates })
    return carrying
  }

  #write(body: JsonObject, to: Dialect): Written {
    const key = `${to} ${JSON.stringify(body)}`
    const known = this.#written.get(key)
    if (known) return known
    const written = write(this.#from, body, to)
    this.#written.set(key, written)
    return written
  }

  /** The members that an object must have. */
  #objectSample({ members }: ObjectShape, path: string): JsonObject {
    // A message without content would be left out.
    const isMessage = members.some(({ name }) => name === 'role')
    const required = members.filter(({ name, isOptional }) => !isOptional || (isMessage && name === 'content'))
    const samples = required.map(({ name, type }) => [name, this.#sample(name, type, `${path}.${name}`)])
    return { ...Object.fromEntries(samples), ...extraOf(path) }
  }

  #sample(name: string, type: Member['type'], path: string): unknown {
    const shape = this.#types.shapeOf(type)
    const open = openSample(name)
    if (open !== undefined || shape.isOpen) return open ?? openEntry(path)
    const scalar = scalarOf(shape, path, name)
    if (scalar !== undefined) return scalar
    const [object] = shape.objects
    if (object) return path.split('.').length > depthMax * 2 ? {} : this.#objectSample(object, path)
    const [element] = shape.elements
    return element ? [this.#sample(name, element, `${path}[]`)] : null
  }
}

/** A text is preferred, since most unions with a list have it as the simple form. */
function scalarOf({ literals, primitives }: Shape, path: string, name: string): string | number | boolean | undefined {
  return sampleOf({ literals, primitives, path, name })
}

/** The discriminator of an alternative: `{type:function}`. */
function labelOf({ members }: ObjectShape, types: RequestTypes): string {
  for (const key of ['type', 'role']) {
    const member = members.find(({ name }) => name === key)
    const [literal] = member ? types.shapeOf(member.type).literals : []
    if (literal !== undefined) return `{${key}:${literal}}`
  }
  return ''
}

interface Written {
  /** Undefined when the request is refused. */
  readonly body: string | undefined
  readonly lost: ReadonlySet<string>
}

const models: Readonly<Record<Dialect, string>> = {
  'openai.chat': 'gpt-4o',
  'openai.responses': 'gpt-5.6',
  'anthropic.messages': 'claude-sonnet-4-5',
  'gemini.generate': 'gemini-3.5-flash',
}

/** Reads and writes a request as the relay does. */
function write(from: Dialect, body: JsonObject, to: Dialect): Written {
  const lost = new Set<string>()
  const context: RequestContext = {
    model: models[to],
    quirks: {},
    settings: {
      claudeDefaultMaxTokens: { default: 8192 },
      claudeThinkingShare: undefined,
      geminiSafety: {},
      dropsHostedTools: true,
    },
    lose: (field) => lost.add(field),
  }
  try {
    const dialogue = inboundOf(from).readRequest(body, { model: 'm' })
    leaveOutVendorTools(dialogue, context)
    loseUnread(dialogue, context, formats[to])
    return { body: JSON.stringify(codecOf(to).writeRequest(dialogue, context).body), lost }
  } catch (error) {
    if (error instanceof AppError) return { body: undefined, lost }
    throw error
  }
}

function compare(with_: Written, without: Written, path: string): { fate: Fate; isWritten: boolean } {
  if (with_.body === undefined) return { fate: 'refused', isWritten: false }
  const isWritten = with_.body !== without.body
  if ([...with_.lost].some((name) => !without.lost.has(name))) return { fate: 'named', isWritten }
  if (isWritten) return { fate: 'carried', isWritten }
  return { fate: isNamedWhole(with_.lost, path) ? 'named' : 'silent', isWritten }
}

/** Whether the receipt names the member, or an object around it, which may be empty without the member, or its hosted tool. */
function isNamedWhole(lost: ReadonlySet<string>, path: string): boolean {
  const ofTool = path.replace(/^tools\[\]\{type:(\w+)\}/, 'tools.$1')
  const plain = [path, ofTool].map((each) => each.replace(/\{[^}]*\}|\[\]/g, ''))
  return [...lost].some((name) => plain.some((each) => each === name || each.startsWith(`${name}.`)))
}

/** Members of the SDK's parameters that are sent as headers, or only say in which form the answer comes. */
function isSkipped(from: Dialect, path: string): boolean {
  const headers = from === 'anthropic.messages' ? ['betas', 'user_profile_id', 'workspace_id'] : []
  return ['model', 'stream', ...headers].includes(path)
}
