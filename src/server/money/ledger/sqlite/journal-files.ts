import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Database } from '../../../base/db/open.ts'

/** The two files of a journal beside its database file. Nothing here follows a link or opens anything but a regular file. */
export function pathsOf(database: string): readonly [string, string] {
  return [`${database}-charges-1`, `${database}-charges-2`]
}

/** Why a file was set aside. Foreign: nothing of it was applied. Damaged: every valid record of this database was. */
export type SetAsideReason = 'foreign' | 'damaged'

/**
 * The files of the journal that were set aside, which may have charges that the ledger lacks. They stay until an operator moves them
 * away, and so confirms to know.
 */
export function setAsideOf(database: Database): string[] {
  return database.dialect === 'sqlite' ? setAsideFiles(database.file) : []
}

function setAsideFiles(database: string): string[] {
  const folder = dirname(database)
  const start = `${basename(database)}-charges-`
  const names = readdirSync(folder).filter(
    (name) => name.startsWith(start) && /^[12]-(foreign|damaged)-/.test(name.slice(start.length)),
  )
  return names.sort().map((name) => join(folder, name))
}

/** The bytes of a file; undefined if it is absent, `none` if something else than a regular file has its name. */
export function bytesOf(path: string): Buffer | 'none' | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat) return undefined
  if (!stat.isFile()) return 'none'
  const descriptor = openRegular(path, constants.O_RDONLY)
  try {
    return readFileSync(descriptor)
  } catch (cause) {
    throw new Error(`${path} cannot be read: ${cause instanceof Error ? cause.message : cause}`, { cause })
  } finally {
    closeSync(descriptor)
  }
}

/** Opens a file for reading and writing, which must exist. */
export function openFile(path: string): number {
  return openRegular(path, constants.O_RDWR)
}

/** Puts a file with these bytes in place at once, durably, whatever file has this name now. Returns its descriptor. */
export function createFile(path: string, bytes: Buffer): number {
  const fresh = `${path}-new`
  rmSync(fresh, { force: true, recursive: true })
  const descriptor = openSync(fresh, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    writeDurably(descriptor, bytes, 0)
    renameSync(fresh, path)
    syncFolder(dirname(path))
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Gives a file, or what has its name, a name that tells why, and returns that. */
export function setAside(path: string, reason: SetAsideReason): string {
  const aside = freeName(path, reason)
  renameSync(path, aside)
  if (lstatSync(aside).isFile()) chmodSync(aside, 0o600)
  syncFolder(dirname(path))
  return aside
}

/**
 * Gives the bytes of a file a second name that tells why, and leaves the file in place, so that a process that dies before these are
 * applied finds them. Returns the name, which is the earlier one if they have it already.
 */
export function keepAside(database: string, path: string, reason: SetAsideReason): string {
  const { ino } = lstatSync(path)
  const before = setAsideFiles(database).find((name) => lstatSync(name).ino === ino)
  if (before !== undefined) return before
  const aside = freeName(path, reason)
  try {
    linkSync(path, aside)
  } catch {
    // Some file systems have no links.
    copyFileSync(path, aside, constants.COPYFILE_EXCL)
  }
  chmodSync(aside, 0o600)
  syncFolder(dirname(path))
  return aside
}

export function writeDurably(descriptor: number, bytes: Buffer, at: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(descriptor, bytes, written, bytes.length - written, at + written)
  fdatasyncSync(descriptor)
}

function freeName(path: string, reason: SetAsideReason): string {
  const start = `${path}-${reason}-${new Date().toISOString().replaceAll(':', '-')}`
  let name = start
  for (let count = 2; lstatSync(name, { throwIfNoEntry: false }); count++) name = `${start}-${count}`
  return name
}

/** Windows has neither of the flags. A pipe that took the place of the file meanwhile does not hold up the thread. */
const regularFlags = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

function openRegular(path: string, flags: number): number {
  const descriptor = openSync(path, flags | regularFlags)
  if (fstatSync(descriptor).isFile()) return descriptor
  closeSync(descriptor)
  throw new Error(`${path} is not a regular file`)
}

/** Makes the names of new files in it durable; Windows has no such call. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(path, constants.O_RDONLY)
  fsyncSync(descriptor)
  closeSync(descriptor)
}
