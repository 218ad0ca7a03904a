import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

/** In /proc/net/tcp: the state of a socket that listens. */
const listening = '0A'

/**
 * The program that listens on a TCP port of this machine, such as `nginx (process 812)`. `undefined` where the system does not tell: on
 * anything but Linux, for processes of other users, for those of another container. Source: proc(5).
 */
export function portUser(port: number): string | undefined {
  try {
    const sockets = new Set(['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listeningSockets(table, port)))
    const process = readdirSync('/proc').find((name) => /^\d+$/.test(name) && hasOneOf(sockets, name))
    return process && `${programOf(process)} (process ${process})`
  } catch {
    return undefined
  }
}

/** The name of its file: threads of a program may have other names. */
function programOf(process: string): string {
  const [path = ''] = readFileSync(`/proc/${process}/cmdline`, 'utf8').split('\0')
  return basename(path.split(' ', 1)[0] ?? '')
}

/** The links of the sockets that listen on the port, as the descriptors of a process show them: `socket:[INODE]`. */
function listeningSockets(table: string, port: number): string[] {
  const hexPort = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return read(table)
    .split('\n')
    .flatMap((line) => {
      const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
      return state === listening && local.endsWith(hexPort) ? [`socket:[${inode}]`] : []
    })
}

/** A kernel without IPv6 has no table of its sockets. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** A process that has ended, or belongs to another user, has none. */
function hasOneOf(sockets: ReadonlySet<string>, process: string): boolean {
  try {
    const folder = `/proc/${process}/fd`
    return readdirSync(folder).some((descriptor) => sockets.has(readlinkSync(`${folder}/${descriptor}`)))
  } catch {
    return false
  }
}
