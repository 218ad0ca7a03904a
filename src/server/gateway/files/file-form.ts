import type { FileDialect, StoreFormat } from '../protocols/format.ts'
import { type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'
import type { FilePage, KeptFile } from '../relay/conversations/kept-files.ts'

/** What the vendor's object says about a file. */
interface FileFacts {
  /** '' when the object is none. */
  readonly vendorId: string
  readonly bytes: number
  readonly filename: string
  readonly purpose: string
  /** Unix seconds; 0 for never. */
  readonly expiresAt: number
  /** The object without its ids, of which `writeFile` makes the caller's. */
  readonly vendorObject: JsonObject
}

/** A page of the caller's list, and whether more follow. */
interface Listed {
  readonly files: readonly KeptFile[]
  readonly hasMore: boolean
  /** The address of this site, for dialects whose files have a URI. */
  readonly site: string
}

/** How a dialect writes files. The object of the vendor keeps its shape; only its ids change. */
export interface FileForm {
  readonly dialect: FileDialect
  /** What a channel must speak. */
  readonly format: StoreFormat
  /** The vendor's limit of one file. */
  readonly bytesMax: number
  readObject(object: JsonObject): FileFacts
  writeFile(file: Pick<KeptFile, 'id' | 'vendorObject'>, site: string): JsonObject
  readPage(query: URLSearchParams): Omit<FilePage, 'dialect'>
  writePage(listed: Listed): JsonObject
  /** The answer to a deletion. */
  writeDeleted(id: string): JsonObject
  /** How its content is asked for. */
  content(vendorId: string): { readonly suffix: string; readonly query?: URLSearchParams }
}

const openai: FileForm = {
  dialect: 'openai',
  format: 'openai.files',
  bytesMax: 512 * 1024 ** 2,
  readObject(object) {
    const { id: _, ...vendorObject } = object
    return {
      vendorId: textAt(object, 'id'),
      bytes: numberAt(object, 'bytes'),
      filename: textAt(object, 'filename'),
      purpose: textAt(object, 'purpose'),
      expiresAt: numberAt(object, 'expires_at'),
      vendorObject,
    }
  },
  writeFile: ({ id, vendorObject }) => ({ id, ...vendorObject }),
  readPage(query) {
    const ascending = query.get('order') === 'asc'
    return {
      limit: limitIn(query, { name: 'limit', usual: 1000, most: 10_000 }),
      ascending,
      ...named(query, ['purpose', 'after']),
    }
  },
  writePage: ({ files, hasMore }) => ({
    object: 'list',
    data: files.map((file) => openai.writeFile(file, '')),
    ...ends(files),
    has_more: hasMore,
  }),
  writeDeleted: (id) => ({ id, object: 'file', deleted: true }),
  content: (vendorId) => ({ suffix: `/${encodeURIComponent(vendorId)}/content` }),
}

const anthropic: FileForm = {
  dialect: 'anthropic',
  format: 'anthropic.files',
  bytesMax: 500 * 1024 ** 2,
  readObject(object) {
    const { id: _, ...vendorObject } = object
    return {
      vendorId: textAt(object, 'id'),
      bytes: numberAt(object, 'size_bytes'),
      filename: textAt(object, 'filename'),
      purpose: '',
      expiresAt: timeAt(object, 'expires_at'),
      vendorObject,
    }
  },
  writeFile: ({ id, vendorObject }) => ({ id, ...vendorObject }),
  readPage(query) {
    const { page, after_id: after = page, before_id: before } = named(query, ['page', 'after_id', 'before_id'])
    return { limit: limitIn(query, { name: 'limit', usual: 20, most: 1000 }), after, before }
  },
  // The cursor of the newer list is the id of its last file, as that of the older one.
  writePage: ({ files, hasMore }) => ({
    data: files.map((file) => anthropic.writeFile(file, '')),
    ...ends(files),
    has_more: hasMore,
    next_page: hasMore ? (files.at(-1)?.id ?? null) : null,
  }),
  writeDeleted: (id) => ({ id, type: 'file_deleted' }),
  content: (vendorId) => ({ suffix: `/${encodeURIComponent(vendorId)}/content` }),
}

const gemini: FileForm = {
  dialect: 'gemini',
  format: 'gemini.files',
  bytesMax: 2 * 1024 ** 3,
  readObject(answer) {
    const object = objectAt(answer, 'file') ?? answer
    const { name: _, ...vendorObject } = object
    return {
      vendorId: textAt(object, 'name').replace(/^files\//, ''),
      bytes: Number(textAt(object, 'sizeBytes')) || 0,
      filename: textAt(object, 'displayName'),
      purpose: '',
      expiresAt: timeAt(object, 'expirationTime'),
      vendorObject,
    }
  },
  writeFile({ id, vendorObject }, site) {
    const { uri, downloadUri, ...rest } = vendorObject
    const own = `${site}/v1beta/files/${id}`
    return {
      name: `files/${id}`,
      ...rest,
      ...(uri === undefined ? {} : { uri: own }),
      ...(downloadUri === undefined ? {} : { downloadUri: `${own}:download?alt=media` }),
    }
  },
  readPage(query) {
    const { pageToken: after } = named(query, ['pageToken'])
    return { limit: limitIn(query, { name: 'pageSize', usual: 10, most: 100 }), after }
  },
  writePage: ({ files, hasMore, site }) => ({
    files: files.map((file) => gemini.writeFile(file, site)),
    ...(hasMore ? { nextPageToken: files.at(-1)?.id } : {}),
  }),
  writeDeleted: () => ({}),
  content: (vendorId) => ({ suffix: `/${encodeURIComponent(vendorId)}:download`, query: new URLSearchParams({ alt: 'media' }) }),
}

export const fileForms: Readonly<Record<FileDialect, FileForm>> = { openai, anthropic, gemini }

function ends(files: readonly KeptFile[]): JsonObject {
  return { first_id: files[0]?.id ?? null, last_id: files.at(-1)?.id ?? null }
}

function limitIn(query: URLSearchParams, { name, usual, most }: { name: string; usual: number; most: number }): number {
  const limit = Number(query.get(name) ?? usual)
  return Number.isInteger(limit) && limit >= 1 ? Math.min(limit, most) : usual
}

/** The parameters of a query that are set. */
function named<Name extends string>(query: URLSearchParams, names: readonly Name[]): Partial<Record<Name, string>> {
  const set = names.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : []))
  // Each entry is one of the names, with a text.
  return Object.fromEntries(set) as Partial<Record<Name, string>>
}

function numberAt(object: JsonObject, name: string): number {
  const value = object[name]
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

function timeAt(object: JsonObject, name: string): number {
  const time = Date.parse(textAt(object, name))
  return Number.isFinite(time) ? Math.floor(time / 1000) : 0
}
