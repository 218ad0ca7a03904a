import { lookup, Resolver } from 'node:dns/promises'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Semaphore } from '../collections/semaphore.ts'
import { setActiveTimeout, withActiveTimeout } from '../time/active-time.ts'

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly Address[]>

interface Address {
  readonly address: string
  readonly family: number
}

export interface NameSources {
  /** Name servers that are queried in place of those of the system. */
  readonly servers?: readonly string[]
  readonly hostsFile?: string
  /** Resolves the names that DNS does not have. */
  readonly system?: Resolve
  readonly deadlineMs?: number
}

/**
 * Resolves names like the operating system, but without using its threads: reads the hosts file, then queries DNS over its own
 * sockets. `getaddrinfo` takes one of the four threads of the process for each name, and a slow name server would block all other
 * users of them, files and compression included. So the system is asked only for names that DNS does not have (search domains,
 * mDNS), two at a time. Concurrent lookups of one name share a query. Rejects at the deadline, or at twice the deadline if the
 * system is asked.
 */
export function systemResolve(sources: NameSources = {}): Resolve {
  const { servers, hostsFile = systemHosts, system = askSystem, deadlineMs = lookupMaxMs } = sources
  const running = new Map<string, ReturnType<Resolve>>()
  const hosts = new HostsFile(hostsFile)
  const semaphore = new Semaphore(systemLookupsMax, systemLookupsWaitingMax)

  const resolve = async (hostname: string): Promise<readonly Address[]> => {
    const name = hostname.toLowerCase().replace(/\.$/, '')
    const listed = hosts.addressesOf(name)
    if (listed.length > 0) return listed
    if (isLoopbackName(name)) return loopback
    try {
      return await askServers(hostname, servers, deadlineMs)
    } catch (error) {
      if (!isUnknown(error)) throw error
      return withinDeadline(
        semaphore.run(
          () => system(hostname),
          () => {
            throw error
          },
        ),
        { hostname, deadlineMs },
      )
    }
  }

  return (hostname) => {
    const known = running.get(hostname)
    if (known) return known
    const started = resolve(hostname).finally(() => running.delete(hostname))
    running.set(hostname, started)
    return started
  }
}

const systemHosts = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts'
const systemLookupsMax = 2
const systemLookupsWaitingMax = 100
/** The default deadline. */
export const lookupMaxMs = 4500
/** The resolution delay of RFC 8305. */
const otherFamilyMs = 50

const askSystem: Resolve = (hostname) => lookup(hostname, { all: true, order: 'verbatim' })

/** RFC 6761: such a name never leaves the machine. */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

const loopback: readonly Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** Each name has its own resolver: it reads the current servers of the system, and can be cancelled separately. */
async function askServers(hostname: string, servers: NameSources['servers'], deadlineMs: number): Promise<Address[]> {
  const resolver = new Resolver({ timeout: Math.ceil(deadlineMs / 3), tries: 2 })
  if (servers) resolver.setServers([...servers])
  const cancel = setActiveTimeout(deadlineMs, () => resolver.cancel())
  const found: Address[] = []
  const take = (family: 4 | 6) => (all: readonly string[]) => void found.push(...all.map((address) => ({ address, family })))
  try {
    const both = [resolver.resolve4(hostname).then(take(4)), resolver.resolve6(hostname).then(take(6))]
    const settled = Promise.allSettled(both)
    const isFound = await Promise.any(both).then(
      () => true,
      () => false,
    )
    // With addresses of one family there is only a short wait for a server that ignores queries for the other.
    await (isFound ? Promise.race([settled, pause(otherFamilyMs)]) : settled)
    if (found.length > 0) return found.sort((one, other) => one.family - other.family)
    const reasons = (await settled).flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    // A failed query for one family is more significant than an empty answer for the other.
    throw reasons.find((reason) => !isUnknown(reason)) ?? reasons[0] ?? noAnswer(hostname, 'ENOTFOUND')
  } finally {
    cancel()
    resolver.cancel()
  }
}

/** Whether the servers do not know the name, or there is no server. */
function isUnknown(error: unknown): boolean {
  return error instanceof Error && 'code' in error && unknownCodes.has(String(error.code))
}

const unknownCodes: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EBADNAME'])

function withinDeadline<Value>(
  work: Promise<Value>,
  { hostname, deadlineMs }: { hostname: string; deadlineMs: number },
): Promise<Value> {
  return withActiveTimeout(deadlineMs, work, () => {
    throw noAnswer(hostname, 'ETIMEOUT')
  })
}

function noAnswer(hostname: string, code: string): Error {
  return Object.assign(new Error(`${hostname} could not be looked up`), { code })
}

/** The hosts file, reloaded when it has changed. */
class HostsFile {
  readonly #path: string
  #version = ''
  #names: ReadonlyMap<string, readonly Address[]> = new Map()

  constructor(path: string) {
    this.#path = path
  }

  addressesOf(name: string): readonly Address[] {
    const found = statSync(this.#path, { throwIfNoEntry: false })
    const version = found ? `${found.mtimeMs} ${found.size}` : 'none'
    if (version !== this.#version) {
      this.#version = version
      this.#names = found ? readHosts(readFileSync(this.#path, 'utf8')) : new Map()
    }
    return this.#names.get(name) ?? []
  }
}

function readHosts(text: string): Map<string, Address[]> {
  const names = new Map<string, Address[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...called] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const name of called.map((some) => some.toLowerCase()))
      names.set(name, [...(names.get(name) ?? []), { address, family }])
  }
  return names
}
