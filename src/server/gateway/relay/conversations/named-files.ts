import { EditList, type Edits, spliceNested } from '../../../base/lib/bytes/splice-nested.ts'
import { fail } from '../../../base/lib/failure.ts'
import { groupsToTry } from '../../../money/pricing/groups.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { CallerFormat, FileDialect } from '../../protocols/format.ts'
import { formats } from '../../protocols/index.ts'
import { isObject, type JsonObject, textAt } from '../../protocols/wire-format.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { Body } from '../http/read-body.ts'
import type { StoringChannel } from './history.ts'
import type { FilePlace, KeptFile, KeptFiles } from './kept-files.ts'

/** A request whose files have the ids of their vendor, and the place of the files. */
interface NamedFiles {
  readonly body: Body
  readonly place: FilePlace
}

/** The path of a value in a request. */
type Path = readonly [string, ...(string | number)[]]

interface Mention {
  readonly path: Path
  /** The id, or the URI that has it. */
  readonly id: string
}

/**
 * Puts the vendor's ids into a request that names files of its caller; undefined for one that names none. A file of anybody else is
 * unknown, whatever its vendor would answer. Throws `file_unknown`, or `files_apart` when the files are at different places.
 */
export function nameFiles(
  { keptFiles }: { readonly keptFiles: KeptFiles },
  caller: Pick<RelayCaller, 'userId'>,
  { format, body }: { readonly format: CallerFormat; readonly body: Body },
): Promise<NamedFiles> | undefined {
  const dialect = formats[format].wire?.dialect
  if (body.form || !isFileDialect(dialect) || !mayName(dialect, body.bytes)) return undefined
  const mentions = mentionsIn(dialect, body.json)
  return mentions.length === 0 ? undefined : replaced(keptFiles, caller.userId, { dialect, body, mentions })
}

function isFileDialect(dialect: string | undefined): dialect is FileDialect {
  return dialect === 'openai' || dialect === 'anthropic' || dialect === 'gemini'
}

/** A request without these bytes names no file. Members may be written with escapes. */
function mayName(dialect: FileDialect, bytes: Buffer): boolean {
  const names = dialect === 'gemini' ? ['files/', 'files\\/'] : ['file_id']
  return names.some((name) => bytes.includes(name)) || bytes.includes('\\u00')
}

async function replaced(
  keptFiles: KeptFiles,
  userId: number,
  { dialect, body, mentions }: { dialect: FileDialect; body: Body; mentions: readonly Mention[] },
): Promise<NamedFiles> {
  const files = await keptFiles.findAll(
    userId,
    dialect,
    mentions.map(({ id }) => id),
  )
  const edits = new EditList()
  let place: KeptFile | undefined
  for (const { path, id } of mentions) {
    const file = files.get(id)
    if (file?.state !== 'kept') return fail('file_unknown', { id: id.slice(0, 100) })
    if (place && (place.channelId !== file.channelId || place.keyId !== file.keyId))
      return fail('files_apart', { first: place.id, second: file.id })
    place = file
    edits.set(path, JSON.stringify(namedAtVendor(file)))
  }
  if (!place) throw new Error('A request without files is not changed')
  return { body: edited(body, edits.edits), place: { id: place.id, channelId: place.channelId, keyId: place.keyId } }
}

function namedAtVendor({ dialect, vendorId, vendorObject }: KeptFile): string {
  return dialect === 'gemini' ? textAt(vendorObject, 'uri') || `files/${vendorId}` : vendorId
}

function edited(body: Body, edits: Edits): Body {
  const bytes = spliceNested(body.bytes, edits)
  // The bytes are an object, like those before.
  return { ...body, bytes, json: JSON.parse(bytes.toString('utf8')) as JsonObject }
}

/** Members that hold texts of the caller, of models and of tools, in which nothing names a file for the vendor to read. */
const skipped: ReadonlySet<string> = new Set([
  ...['annotations', 'results', 'outputs', 'parameters', 'input_schema', 'schema', 'metadata', 'arguments', 'args', 'response'],
  ...['citations', 'safety_identifier', 'responseSchema', 'responseJsonSchema', 'parametersJsonSchema'],
])

/** Values of a type that a model or a tool of the vendor has written, and that requests repeat. */
function isRepeated(value: JsonObject): boolean {
  const type = textAt(value, 'type')
  return type.endsWith('_tool_result') || type === 'file_search_call' || type === 'code_interpreter_call'
}

function mentionsIn(dialect: FileDialect, body: JsonObject): Mention[] {
  const mentions: Mention[] = []
  const note = (path: Path, value: unknown) => {
    const id = idIn(dialect, value)
    if (id !== undefined) mentions.push({ path, id })
  }
  const names = namesOf[dialect]
  const visit = (value: unknown, path: readonly (string | number)[]): void => {
    if (Array.isArray(value)) {
      for (const [index, entry] of value.entries()) visit(entry, [...path, index])
      return
    }
    if (!isObject(value) || isRepeated(value)) return
    const isCall = textAt(value, 'type').endsWith('tool_use')
    for (const [name, member] of Object.entries(value)) {
      // The first key of a path is a member of the body.
      const at = [...path, name] as unknown as Path
      if (skipped.has(name) || (isCall && name === 'input')) continue
      if (names.one.has(name)) note(at, member)
      else if (names.many.has(name) && Array.isArray(member)) for (const [index, id] of member.entries()) note([...at, index], id)
      else visit(member, at)
    }
  }
  visit(body, [])
  return mentions
}

/** The members in which requests name files. */
const namesOf: Readonly<Record<FileDialect, { readonly one: ReadonlySet<string>; readonly many: ReadonlySet<string> }>> = {
  openai: { one: new Set(['file_id']), many: new Set(['file_ids']) },
  anthropic: { one: new Set(['file_id']), many: new Set() },
  gemini: { one: new Set(['fileUri', 'file_uri', 'uri']), many: new Set() },
}

/** A URI may also lead to a file elsewhere, which is not stored at the vendor. */
function idIn(dialect: FileDialect, value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  return dialect === 'gemini'
    ? /^(?:https?:\/\/[^/?#]+\/(?:[\w/-]{0,100}\/)?v1(?:beta)?\/)?files\/([\w-]{1,64})$/.exec(value)?.[1]
    : value
}

/**
 * The channel and key that have the files of a request, for the model that it asks. Throws `file_channel_gone` or `file_elsewhere`.
 */
export function channelOfFiles(
  { channels, options }: Pick<GatewayParts, 'channels' | 'options'>,
  caller: RelayCaller,
  { model, place }: { readonly model: string; readonly place: FilePlace },
): StoringChannel {
  const { id, channelId, keyId } = place
  const index = channels.current
  if (!index.keysOf(channelId).some((key) => key.keyId === keyId)) fail('file_channel_gone', { id })
  const groups = groupsToTry(options.current, caller)
  const serves = (group: string) =>
    index.candidates(group, model).some((tier) => tier.some((channel) => channel.id === channelId))
  const isPinned = caller.pinnedChannel === channelId
  const group = groups.find(serves) ?? (isPinned ? groups[0] : undefined)
  if (group === undefined || (caller.pinnedChannel !== 0 && !isPinned)) return fail('file_elsewhere', { id, model })
  return { channelId, keyId, tokens: 0, group }
}
