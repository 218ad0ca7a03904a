/**
 * Addresses of PostgreSQL as its own programs read them: one or more hosts, tried in order, and `target_session_attrs`, which says what a
 * host must be. The client library knows neither, so that an address becomes one for each host.
 */
interface PostgresHosts {
  readonly hosts: readonly PostgresHost[]
  readonly session: PostgresSession
}

export interface PostgresHost {
  /** For messages: host and port. */
  readonly name: string
  /** An address for the client library, with this host alone. */
  readonly url: string
}

const postgresSessions = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const
/** What a host must be: the values of `target_session_attrs`. */
export type PostgresSession = (typeof postgresSessions)[number]

const parts = /^(postgres(?:ql)?:\/\/)([^/?#]*)(\/[^?#]*)?(?:\?([^#]*))?(#.*)?$/s
const hostAndPort = /^(\[[^\]]*\]|[^:]*)(?::(\d*))?$/
const attributes = 'target_session_attrs'

/** Throws an error that says what is wrong with the address and contains nothing of it, because a password may be anywhere in it. */
export function readPostgresAddress(address: string): PostgresHosts {
  const [, scheme = '', authority = '', path = '', query = '', fragment] = parts.exec(address) ?? []
  if (scheme === '') throw new Error('must begin with postgres://')
  const [user, named] = splitAtLast(authority, '@')
  requireEncoded({ user, named, path, query, fragment })

  const parameters = new URLSearchParams(query)
  const session = sessionOf(parameters.get(attributes) ?? 'any')
  const places = placesOf(named, parameters.get('host') ?? '', parameters.get('port') ?? '')
  for (const name of [attributes, 'host', 'port']) parameters.delete(name)
  const hosts = places.map(({ host, port }) => {
    const isSocket = host.startsWith('/')
    // A socket has no place in front of the path; where a user is, the library wants a host there.
    const shown = isSocket || (host === '' && user !== '') ? 'localhost' : inBrackets(host)
    const own = new URLSearchParams(isSocket ? [...parameters, ['host', host]] : parameters)
    const url = `${scheme}${user}${shown}${port === '' ? '' : `:${port}`}${path}${own.size === 0 ? '' : `?${own}`}`
    if (!URL.canParse(url)) throw new Error('is no address of PostgreSQL: postgres://user:password@host:port/database')
    return {
      name: `${decodeURIComponent(shown === 'localhost' && isSocket ? host : shown)}:${port || 5432}`,
      url: withSslmode(new URL(url).href),
    }
  })
  return { hosts, session }
}

/** Everything up to the last mark, and what follows it; ['', text] without one. */
function splitAtLast(text: string, mark: string): [string, string] {
  const end = text.lastIndexOf(mark) + 1
  return [text.slice(0, end), text.slice(end)]
}

/** Characters that end a part of an address are not seen as part of a password: what follows them is read as a host, path or parameter. */
function requireEncoded(found: {
  readonly user: string
  readonly named: string
  readonly path: string
  readonly query: string
  readonly fragment: string | undefined
}): void {
  const { user, named, path, query, fragment } = found
  const cut = (mark: string, code: string) =>
    new Error(
      `is no address: write special characters of user and password as %XX, such as %40 for @; ${mark} among them as ${code}`,
    )
  if (path.includes('@')) throw cut('/', '%2F')
  if (user === '' && named !== '' && /^[^=]*@/.test(query)) throw cut('?', '%3F')
  if (fragment !== undefined) throw cut('#', '%23')
  if (/%(?![0-9a-f]{2})/i.test(user + named + path)) throw cut('%', '%25')
}

function sessionOf(given: string): PostgresSession {
  const session = postgresSessions.find((known) => known === given)
  if (!session) throw new Error(`${attributes} must be one of ${postgresSessions.join(', ')}`)
  return session
}

/** Hosts and ports from the place in front of the path, or from the parameters, which have priority. */
function placesOf(named: string, hosts: string, ports: string): { readonly host: string; readonly port: string }[] {
  const listed = named.split(',').map((each) => {
    const [, host = '', port = ''] = hostAndPort.exec(each) ?? []
    if (!hostAndPort.test(each))
      throw new Error(
        'is no address: the port of a host is not a number. Special characters of user and password are written as %XX',
      )
    return { host, port }
  })
  const byName = hosts === '' ? listed : hosts.split(',').map((host) => ({ host, port: '' }))
  if (ports === '') return byName
  const each = ports.split(',')
  if (!each.every((port) => /^\d*$/.test(port)) || (each.length > 1 && each.length !== byName.length))
    throw new Error('has another number of ports than of hosts, or a port that is not a number')
  return byName.map(({ host }, at) => ({ host, port: each[each.length === 1 ? 0 : at] ?? '' }))
}

function inBrackets(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** Makes the client library read `sslmode` as PostgreSQL's own programs do; they do not know `no-verify`. */
function withSslmode(url: string): string {
  const hasOwnMeaning = !/[?&]sslmode=(?!no-verify)/.test(url) || /[?&]uselibpqcompat=/.test(url)
  return hasOwnMeaning ? url : `${url}&uselibpqcompat=true`
}
