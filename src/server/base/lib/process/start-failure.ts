import { tooFewDescriptors } from './descriptors.ts'
import { portUser } from './port-user.ts'

/** The settings that a start depends on; absent when they could not be read. */
interface StartSettings {
  readonly HOST: string
  readonly PORT: number
  readonly DATA_DIR: string
  readonly DATABASE_URL: string
}

/**
 * What an operator reads when the server, or a command, cannot start: the setting with its value, without secrets, the reason, and what to
 * do.
 */
export function startFailure(error: unknown, settings: StartSettings | undefined): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : ''
  if (/\bEMFILE\b/.test(error.message)) return tooFewDescriptors()
  const known = settings && (ofSystem(error, settings) ?? ofSqlite(error, settings))
  return known ?? error.message + cause
}

function ofSystem({ message, ...error }: Error, { HOST, PORT, DATA_DIR }: StartSettings): string | undefined {
  const { code, path = '' } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return `PORT: ${HOST}:${PORT} is in use by ${portUser(PORT) ?? 'another program'}: stop it, or set another PORT, such as ${PORT + 1}`
  if (code === 'EADDRNOTAVAIL')
    return `HOST: this machine has no address ${HOST}: set HOST to one of its own, or to 0.0.0.0 for all`
  if (code === 'EACCES' && message.startsWith('listen')) return `PORT: ${PORT} is for the administrator alone: set one above 1023`
  if (!['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'ENOSPC'].includes(code ?? '') || !path.startsWith(DATA_DIR))
    return undefined
  return `DATA_DIR: ${DATA_DIR} cannot be used by ${user()} (${code} at ${path}): ${code === 'ENOSPC' ? 'make room there' : 'give the folder to this user'}, or set another DATA_DIR`
}

/** SQLite's code of a failure, without its details. */
const reasons: Readonly<Record<number, string>> = {
  8: 'is read-only for',
  11: 'is damaged; restore a backup. It was opened by',
  14: 'cannot be opened by',
  26: 'is not a database; move it away, or restore a backup. It was opened by',
}

function ofSqlite(error: Error, { DATA_DIR, DATABASE_URL }: StartSettings): string | undefined {
  const reason = 'errcode' in error ? reasons[Number(error.errcode) & 0xff] : undefined
  return DATABASE_URL === '' && reason ? `DATA_DIR: ${DATA_DIR}/app.db ${reason} ${user()}: ${error.message}` : undefined
}

function user(): string {
  return process.getuid ? `the user with id ${process.getuid()}` : 'this user'
}
