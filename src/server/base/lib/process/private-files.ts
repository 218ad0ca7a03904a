import { chmodSync, closeSync, fchmodSync, lstatSync, openSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/**
 * Files of the server are readable by its user alone, whatever the umask and whoever made their folder: they hold balances, names and
 * sealed secrets. Windows has no such modes; there the access list of the folder applies.
 */
const privateMode = 0o600
const othersBits = 0o077

/** From now on a file or folder that this process makes is private, also one that a library makes. */
export function makeNewFilesPrivate(): void {
  process.umask(othersBits)
}

/**
 * Makes an empty private file, unless there is one: then it only takes the access of others away, where it may. An existing file is not
 * opened: closing it would end the locks that this process has on a database.
 */
export function makePrivateFile(path: string): void {
  try {
    const descriptor = openSync(path, 'wx', privateMode)
    // The umask may have taken more away than others' access.
    fchmodSync(descriptor, privateMode)
    closeSync(descriptor)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
    tighten(path, () => {})
  }
}

/**
 * The names that the files of the server in its data folder begin with. A master key that others can read is not among them: the start
 * refuses it (`key-ring.ts`).
 */
const ownNames = ['app.db', 'ledger-mark.json']

/**
 * Takes the access of others away from the files that earlier versions, or tools of the operator, have made in the data folder. `onFailure` is called
 * for each file that stays readable by others.
 */
export function tightenFiles(folder: string, onFailure: (file: string, error: unknown) => void): void {
  for (const name of readdirSync(folder))
    if (ownNames.some((own) => name.startsWith(own))) tighten(join(folder, name), (error) => onFailure(join(folder, name), error))
}

function tighten(path: string, onFailure: (error: unknown) => void): void {
  try {
    if (isOpenToOthers(lstatSync(path))) chmodSync(path, privateMode)
  } catch (error) {
    // A file that ended meanwhile, such as a write-ahead log, needs nothing.
    if (codeOf(error) !== 'ENOENT') onFailure(error)
  }
}

/** Only regular files: what a link leads to is the operator's. */
function isOpenToOthers(found: Stats): boolean {
  return process.platform !== 'win32' && found.isFile() && (found.mode & othersBits) !== 0
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
