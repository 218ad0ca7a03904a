import { EditList, type Edits, editNested, spliceNested } from '../../base/lib/bytes/splice-nested.ts'
import { withoutBillingLine } from '../protocols/anthropic-messages/billing-line.ts'
import type { CleanedBody, SentBody } from '../protocols/past-thoughts.ts'
import { asksForSomething } from '../protocols/unread-members.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'
import { type MessagesHost, silentBetas, takes } from './messages-hosts.ts'

/** The upstream of a Messages request. */
export interface MessagesTarget {
  readonly host: MessagesHost
  readonly model: string
  /** The caller's header. */
  readonly betas: string | undefined
}

/**
 * The caller's Messages request without what the host refuses; all other bytes stay unchanged. `dropped` names each member and beta
 * that is lost. Undefined when the host accepts all of it.
 */
export function withoutRefusedBytes({ json, bytes }: SentBody, to: MessagesTarget): CleanedBody | undefined {
  const { edits, dropped } = refusedIn(json, to)
  if (edits.size === 0) return dropped.length === 0 ? undefined : { json, bytes, dropped }
  return { json: edit(json, edits), bytes: spliceNested(bytes, edits), dropped }
}

/** The same for a request that is written here: the top-level members to set or (undefined) to remove. */
export function withoutRefused(
  json: JsonObject,
  to: MessagesTarget,
): { readonly changes: JsonObject; readonly dropped: readonly string[] } {
  const { edits, dropped } = refusedIn(json, to)
  const edited = new Map(Object.entries(edits.size === 0 ? json : edit(json, edits)))
  return { changes: Object.fromEntries([...edits.keys()].map((key) => [key, edited.get(String(key))])), dropped }
}

/** The betas of a request that the host knows, by its names for them. */
export function acceptedBetas({ betas, renamedBetas }: MessagesHost, names: readonly string[]): string[] {
  return [...new Set(names.map((name) => renamedBetas?.get(name) ?? name))].filter((name) => takes(betas, name))
}

/** The betas in a header, which is a list with commas. */
export function betasIn(header: string | undefined): string[] {
  return (header ?? '').split(',').flatMap((name) => name.trim() || [])
}

/** The betas that a request has in its body. */
export function betasOf({ anthropic_beta: betas }: JsonObject): string[] {
  return Array.isArray(betas) ? betas.filter((name) => typeof name === 'string' && name !== '') : []
}

interface Refused {
  readonly list: EditList
  readonly lose: (name: string) => void
}

function refusedIn(json: JsonObject, to: MessagesTarget): { edits: Edits; dropped: string[] } {
  const { host } = to
  const dropped = new Set<string>()
  const refused: Refused = { list: new EditList(), lose: (name) => dropped.add(name) }
  const betas = [...betasOf(json), ...betasIn(to.betas)]
  for (const name of betas) if (isLostBeta(host, name)) refused.lose(`anthropic-beta.${name}`)

  removeMembers(json, host, refused)
  if (!host.takesBillingLine) removeBillingLine(json, refused)
  if (Object.keys(host.toolMembers).length > 0) removeToolMembers(json, host, acceptedBetas(host, betas), refused)
  if (host.cacheMarks !== 'all') removeFromMarks(json, to, refused)
  return { edits: refused.list.edits, dropped: [...dropped] }
}

function isLostBeta(host: MessagesHost, name: string): boolean {
  return !silentBetas.has(name) && acceptedBetas(host, [name]).length === 0
}

function removeMembers(json: JsonObject, { members, metadata }: MessagesHost, { list, lose }: Refused): void {
  for (const name of members === 'all' ? [] : Object.keys(json)) {
    if (takes(members, name)) continue
    list.set([name])
    if (asksForSomething(json[name])) lose(name)
  }
  const told = Object.keys(objectAt(json, 'metadata') ?? {})
  const kept = told.filter((name) => takes(metadata, name))
  if (kept.length === told.length) return
  if (kept.length === 0) list.set(['metadata'])
  for (const name of told.filter((each) => !kept.includes(each))) {
    list.set(['metadata', name])
    lose(`metadata.${name}`)
  }
}

/** The line is the whole of its block, as clients write it, or the beginning of a text. */
function removeBillingLine({ system }: JsonObject, { list }: Refused): void {
  if (typeof system === 'string') {
    const rest = withoutBillingLine(system)
    if (rest !== system) list.set(['system'], rest === '' ? undefined : JSON.stringify(rest))
    return
  }
  const blocks: readonly unknown[] = Array.isArray(system) ? system : []
  const rests = blocks.map((block) => (isObject(block) ? withoutBillingLine(textAt(block, 'text')) : undefined))
  const isEmptied = (block: unknown, at: number) => rests[at] === '' && isObject(block) && textAt(block, 'text') !== ''
  if (blocks.length > 0 && blocks.every(isEmptied)) {
    list.set(['system'])
    return
  }
  for (const [at, block] of blocks.entries()) {
    const rest = rests[at]
    if (!isObject(block) || rest === undefined || rest === textAt(block, 'text')) continue
    if (rest === '') list.set(['system', at])
    else list.set(['system', at, 'text'], JSON.stringify(rest))
  }
}

function removeToolMembers(
  json: JsonObject,
  { toolMembers }: MessagesHost,
  betas: readonly string[],
  { list, lose }: Refused,
): void {
  for (const [at, tool] of arrayAt(json, 'tools').entries()) {
    if (!isObject(tool)) continue
    for (const [name, beta] of Object.entries(toolMembers)) {
      if (!(name in tool) || (beta !== undefined && betas.includes(beta))) continue
      list.set(['tools', at, name])
      if (asksForSomething(tool[name])) lose(`tools.${name}`)
    }
  }
}

/** Marks are in the instructions, in tools, and in blocks of messages, which may contain blocks. */
function removeFromMarks(json: JsonObject, { host, model }: MessagesTarget, { list, lose }: Refused): void {
  const { cacheMarks, refusesTtl } = host
  const takesMember = (name: string) => name === 'type' || (takes(cacheMarks, name) && !(name === 'ttl' && refusesTtl?.(model)))
  const visit = (path: readonly [string, ...(string | number)[]], value: unknown): void => {
    if (!isObject(value)) return
    for (const name of Object.keys(objectAt(value, 'cache_control') ?? {})) {
      if (takesMember(name)) continue
      list.set([...path, 'cache_control', name])
      lose(`cache_control.${name}`)
    }
    for (const [at, inner] of arrayAt(value, 'content').entries()) visit([...path, 'content', at], inner)
    const source = objectAt(value, 'source')
    for (const [at, inner] of arrayAt(source ?? {}, 'content').entries()) visit([...path, 'source', 'content', at], inner)
  }
  for (const member of ['system', 'tools', 'messages'] as const) {
    for (const [at, value] of arrayAt(json, member).entries()) visit([member, at], value)
  }
  // The mark for the whole request, at hosts that accept one.
  if (takes(host.members, 'cache_control')) {
    for (const name of Object.keys(objectAt(json, 'cache_control') ?? {})) {
      if (takesMember(name)) continue
      list.set(['cache_control', name])
      lose(`cache_control.${name}`)
    }
  }
}

function edit(json: JsonObject, edits: Edits): JsonObject {
  // An edited object is an object.
  return editNested(json, edits) as JsonObject
}
