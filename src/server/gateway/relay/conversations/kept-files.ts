import type { ExpressionBuilder } from 'kysely'
import { locked } from '../../../base/db/locked.ts'
import type { Queries } from '../../../base/db/open.ts'
import type { Row, Tables } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import { randomText } from '../../../base/lib/secrets/ids.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Core } from '../../../base/options/core.ts'
import type { RelayCaller } from '../../../people/tokens/authenticate.ts'
import type { FileDialect } from '../../protocols/format.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'

/**
 * `arriving`: its bytes are on their way, or their outcome is unknown. `open`: an upload in parts, which is no file yet. `kept`: the
 * vendor has it. `removed`: its owner has deleted it, or it is not wanted any more, and the vendor may still have it.
 */
type FileState = 'arriving' | 'open' | 'kept' | 'removed'

/** A file at a vendor, or an upload that becomes one. */
export interface KeptFile {
  /** The id of this site, which callers see. */
  readonly id: string
  readonly userId: number
  readonly tokenId: number
  readonly channelId: number
  readonly keyId: number
  readonly dialect: FileDialect
  /** The id at the vendor, which no caller sees; '' before the vendor has given one. */
  readonly vendorId: string
  readonly state: FileState
  readonly filename: string
  readonly purpose: string
  readonly bytes: number
  /** The vendor's object as it was last seen, without its ids. */
  readonly vendorObject: JsonObject
  /** Unix seconds. */
  readonly createdAt: number
  /** Unix seconds; 0 for a file that the vendor keeps until it is deleted. */
  readonly expiresAt: number
}

/** Where a file is. */
export type FilePlace = Pick<KeptFile, 'id' | 'channelId' | 'keyId'>

type Begun = Pick<KeptFile, 'id' | 'dialect' | 'bytes' | 'filename' | 'purpose'>

const idForms: Readonly<Record<FileDialect | 'upload', () => string>> = {
  openai: () => `file-${randomText(24)}`,
  anthropic: () => `file_${randomText(24)}`,
  // Names of Gemini's files have small letters, digits and dashes.
  gemini: () => randomText(24).toLowerCase(),
  upload: () => `upload_${randomText(24)}`,
}

export function newFileId(kind: keyof typeof idForms): string {
  return idForms[kind]()
}

/** Whether a text could be an id of a file here; others are not looked up. */
const isId = /^[\w-]{1,64}$/

/** A row may be without an end of its bytes for this long before it is removed. */
const arrivingSecondsMax = 2 * 60 * 60

/**
 * The files that users store at vendors: for each id of this site its owner, and the channel and key that have the file, which nothing
 * else can use. Files count in their owner's quota from the first byte of their upload until they are deleted or expire.
 */
export class KeptFiles {
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  /**
   * Takes room in the quota of the caller for a file that is about to arrive. Throws `files_too_many` or `files_too_large`; the check and
   * the row are one transaction.
   */
  async begin(caller: Pick<RelayCaller, 'userId' | 'tokenId'>, { id, dialect, bytes, filename, purpose }: Begun): Promise<void> {
    const now = seconds(this.#core.now())
    const { 'files.count_max': countMax, 'files.megabytes_max': megabytesMax } = this.#core.options.current
    await this.#core.db.transaction().execute(async (within) => {
      await locked(this.#core, within.selectFrom('users').select('id').where('id', '=', caller.userId)).execute()
      const { count, held } = await within
        .selectFrom('files')
        .select((row) => [
          row.fn.countAll<number>().as('count'),
          row.fn.coalesce(row.fn.sum<number>('bytes'), row.lit(0)).as('held'),
        ])
        .where('user_id', '=', caller.userId)
        .where(inQuota(now))
        .executeTakeFirstOrThrow()
      if (Number(count) >= countMax) fail('files_too_many', { limit: countMax })
      if (Number(held) + bytes > megabytesMax * 1024 ** 2)
        fail('files_too_large', { limit: megabytesMax, held: Math.ceil(Number(held) / 1024 ** 2) })
      await within
        .insertInto('files')
        .values({
          ...{ id, user_id: caller.userId, token_id: caller.tokenId, channel_id: 0, key_id: 0, dialect },
          ...{ vendor_id: '', state: 'arriving', bytes, vendor_object: '{}' },
          ...{ filename: storable(filename, nameMax), purpose: storable(purpose, purposeMax) },
          ...{ created_at: now, expires_at: now + arrivingSecondsMax, ask_at: 0 },
        })
        .execute()
    })
  }

  /** Records what the vendor has made of the bytes that arrived. Undefined members stay. */
  async update(
    { id, userId }: Pick<KeptFile, 'id' | 'userId'>,
    { newId, channelId, keyId, vendorId, state, bytes, vendorObject, expiresAt, filename, purpose }: FileUpdate,
  ): Promise<void> {
    await this.#core.db
      .updateTable('files')
      .set({
        ...(newId === undefined ? {} : { id: newId }),
        ...(channelId === undefined ? {} : { channel_id: channelId }),
        ...(keyId === undefined ? {} : { key_id: keyId }),
        ...(vendorId === undefined ? {} : { vendor_id: vendorId }),
        ...(state === undefined ? {} : { state }),
        ...(bytes === undefined ? {} : { bytes }),
        ...(vendorObject === undefined ? {} : { vendor_object: JSON.stringify(vendorObject) }),
        ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
        ...(filename === undefined ? {} : { filename: storable(filename, nameMax) }),
        ...(purpose === undefined ? {} : { purpose: storable(purpose, purposeMax) }),
      })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .execute()
  }

  /** Takes a file from its owner, so that its vendor is to delete it. Throws `file_unknown`. */
  async remove({ id, userId }: Pick<KeptFile, 'id' | 'userId'>, within: Queries = this.#core.db): Promise<KeptFile> {
    const row = await within
      .updateTable('files')
      .set({ state: 'removed' })
      .where('id', '=', id)
      .where('user_id', '=', userId)
      .where('state', '=', 'kept')
      .where(unexpired(seconds(this.#core.now())))
      .returningAll()
      .executeTakeFirst()
    return row ? readRow(row) : fail('file_unknown', { id: id.slice(0, 100) })
  }

  /** Forgets a file that the vendor does not have. */
  async forget({ id }: Pick<KeptFile, 'id'>): Promise<void> {
    await this.#core.db.deleteFrom('files').where('id', '=', id).execute()
  }

  /** Forgets a file that has not reached its vendor, where it is unchanged. */
  async forgetUnarrived({ id }: Pick<KeptFile, 'id'>): Promise<void> {
    await this.#core.db.deleteFrom('files').where('id', '=', id).where('state', '=', 'arriving').execute()
  }

  /** The files of a user by their ids, in this dialect. Those of others, and those that have expired, are missing. */
  async findAll(userId: number, dialect: FileDialect, ids: readonly string[]): Promise<ReadonlyMap<string, KeptFile>> {
    const asked = [...new Set(ids)].filter((id) => isId.test(id))
    if (asked.length === 0) return new Map()
    const rows = await this.#core.db
      .selectFrom('files')
      .selectAll()
      .where('user_id', '=', userId)
      .where('dialect', '=', dialect)
      .where('id', 'in', asked)
      .where('state', 'in', ['kept', 'open'])
      .where(unexpired(seconds(this.#core.now())))
      .execute()
    return new Map(rows.map((row) => [row.id, readRow(row)]))
  }

  /** Throws `file_unknown` for an id that this user does not have in this state. */
  async find(
    userId: number,
    { dialect, id, state = 'kept' }: { dialect: FileDialect; id: string; state?: FileState },
  ): Promise<KeptFile> {
    const file = (await this.findAll(userId, dialect, [id])).get(id)
    return file?.state === state ? file : fail('file_unknown', { id: id.slice(0, 100) })
  }

  /** A page of a user's files, newest first unless `ascending`, behind the file with the id `after` or before the one with `before`. */
  async list(userId: number, { dialect, limit, ascending = false, purpose, after, before }: FilePage): Promise<KeptFile[]> {
    const anchor = after ?? before
    const from = anchor === undefined ? undefined : await this.find(userId, { dialect, id: anchor })
    // Before an anchor the list is read towards the newest, and turned round.
    const isTurned = before !== undefined && after === undefined
    const isAscending = ascending !== isTurned
    const rows = await this.#core.db
      .selectFrom('files')
      .selectAll()
      .where('user_id', '=', userId)
      .where('dialect', '=', dialect)
      .where('state', '=', 'kept')
      .where(unexpired(seconds(this.#core.now())))
      .$if(purpose !== undefined, (query) => query.where('purpose', '=', purpose ?? ''))
      .$if(from !== undefined, (query) => query.where(behind(from, isAscending ? '>' : '<')))
      .orderBy('created_at', isAscending ? 'asc' : 'desc')
      .orderBy('id', isAscending ? 'asc' : 'desc')
      .limit(limit)
      .execute()
    const files = rows.map(readRow)
    return isTurned ? files.reverse() : files
  }

  /**
   * Files whose vendor is to delete them, due now: deleted ones, those of deleted users, and uploads without an end. Each is given to one
   * caller of all nodes, and comes again after an hour unless it is forgotten.
   */
  async claimRemoved(limit: number): Promise<KeptFile[]> {
    const { db, now } = this.#core
    const at = seconds(now())
    await db
      .updateTable('files')
      .set({ state: 'removed' })
      .where('state', '<>', 'removed')
      .where((row) =>
        row.or([
          row('user_id', 'not in', row.selectFrom('users').select('users.id').where('users.deleted_at', 'is', null)),
          row.and([row('state', 'in', ['arriving', 'open']), row('expires_at', '<=', at)]),
        ]),
      )
      .execute()
    const due = db
      .selectFrom('files')
      .select('id')
      .where('state', '=', 'removed')
      .where('ask_at', '<=', at)
      .orderBy('ask_at')
      .limit(limit)
    const rows = await db
      .updateTable('files')
      .set({ ask_at: at + againSeconds })
      .where('id', 'in', due)
      .where('ask_at', '<=', at)
      .returningAll()
      .execute()
    return rows.map(readRow)
  }

  /** Forgets files that vendors have deleted by themselves. */
  async purge(): Promise<void> {
    await this.#core.db
      .deleteFrom('files')
      .where('state', '=', 'kept')
      .where('expires_at', '>', 0)
      .where('expires_at', '<=', seconds(this.#core.now()))
      .execute()
  }
}

/** What is learnt of a file. `newId`: an upload has become a file. */
type FileUpdate = Partial<Omit<KeptFile, 'id' | 'userId' | 'tokenId' | 'dialect' | 'createdAt'>> & { readonly newId?: string }

/** Which of a user's files to list. */
export interface FilePage {
  readonly dialect: FileDialect
  readonly limit: number
  readonly ascending?: boolean
  readonly purpose?: string | undefined
  readonly after?: string | undefined
  readonly before?: string | undefined
}

const againSeconds = 3600

/** Files that count in the quota of their owner. */
export function inQuota(now: number) {
  return (row: ExpressionBuilder<Tables, 'files'>) => row.and([row('state', '<>', 'removed'), unexpired(now)(row)])
}

function unexpired(now: number) {
  return (row: ExpressionBuilder<Tables, 'files'>) => row.or([row('expires_at', '=', 0), row('expires_at', '>', now)])
}

function behind(from: KeptFile | undefined, direction: '<' | '>') {
  const { createdAt = 0, id = '' } = from ?? {}
  return (row: ExpressionBuilder<Tables, 'files'>) =>
    row.or([row('created_at', direction, createdAt), row.and([row('created_at', '=', createdAt), row('id', direction, id)])])
}

const nameMax = 500
const purposeMax = 100

/** PostgreSQL stores no NUL and no half of a surrogate pair. */
function storable(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).toWellFormed().replaceAll('\0', '')
}

function readRow(row: Row<'files'>): KeptFile {
  return {
    id: row.id,
    userId: row.user_id,
    tokenId: row.token_id,
    channelId: row.channel_id,
    keyId: row.key_id,
    // Written by this class only, like the next ones.
    dialect: row.dialect as FileDialect,
    vendorId: row.vendor_id,
    state: row.state as FileState,
    filename: row.filename,
    purpose: row.purpose,
    bytes: row.bytes,
    vendorObject: JSON.parse(row.vendor_object) as JsonObject,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }
}
