import pg from 'pg'
import { expect, it } from 'vitest'
import { readPostgresAddress } from './postgres-address.ts'

/** The hosts as the client library reads them. */
const clientsOf = (address: string) =>
  readPostgresAddress(address).hosts.map(({ url }) => {
    const { user, password, host, port, database } = new pg.Client(url) as pg.Client & Record<string, unknown>
    return [user, password, host, port, database]
  })

it.each([
  ['postgres://u:p@h/db', [['u', 'p', 'h', 5432, 'db']]],
  ['postgresql://u:p@h:5433/db?sslmode=disable', [['u', 'p', 'h', 5433, 'db']]],
  [
    'postgres://u:p@h1:5433,h2,h3:5434/db?target_session_attrs=read-write',
    [
      ['u', 'p', 'h1', 5433, 'db'],
      ['u', 'p', 'h2', 5432, 'db'],
      ['u', 'p', 'h3', 5434, 'db'],
    ],
  ],
  [
    'postgres://u:p@[::1]:5433,[fe80::2]/db',
    [
      ['u', 'p', '::1', 5433, 'db'],
      ['u', 'p', 'fe80::2', 5432, 'db'],
    ],
  ],
  [
    'postgres://u:p@/db?host=h1,/var/run/postgresql&port=5433,5434',
    [
      ['u', 'p', 'h1', 5433, 'db'],
      ['u', 'p', '/var/run/postgresql', 5434, 'db'],
    ],
  ],
  [
    'postgres://u:p@h1,h2/db?port=6432',
    [
      ['u', 'p', 'h1', 6432, 'db'],
      ['u', 'p', 'h2', 6432, 'db'],
    ],
  ],
  ['postgres://u:p@%2Fvar%2Frun%2Fpostgresql/db', [['u', 'p', '/var/run/postgresql', 5432, 'db']]],
  // Encoded, and those that need no encoding.
  ['postgres://u:%23%40%2F%3F%25%2C%20@h1,h2/db', ['h1', 'h2'].map((host) => ['u', '#@/?%, ', host, 5432, 'db'])],
  ['postgres://u:a@b,c:d!$&*()+;=[]^|~@h1,h2/db', ['h1', 'h2'].map((host) => ['u', 'a@b,c:d!$&*()+;=[]^|~', host, 5432, 'db'])],
  ['postgres://u:with space%2F@h/db', [['u', 'with space/', 'h', 5432, 'db']]],
])('%s is read as its hosts, with user, password and database', (address, expected) => {
  expect(clientsOf(address)).toEqual(expected)
})

it('the hosts keep all other parameters, and the address says what they must be', () => {
  const { hosts, session } = readPostgresAddress('postgres://u@h1,h2:5433/db?sslmode=require&target_session_attrs=primary')
  expect(session).toBe('primary')
  expect(hosts).toEqual([
    { name: 'h1:5432', url: 'postgres://u@h1/db?sslmode=require&uselibpqcompat=true' },
    { name: 'h2:5433', url: 'postgres://u@h2:5433/db?sslmode=require&uselibpqcompat=true' },
  ])
  expect(readPostgresAddress('postgres://u@h1,h2/db').session).toBe('any')
})

it.each([
  ['postgres://u:se#cret@h/db', '# among them as %23'],
  ['postgres://u:12#cret@h/db', '# among them as %23'],
  ['postgres://u:se/cret@h/db', '/ among them as %2F'],
  ['postgres://u:12/cret@h1,h2/db', '/ among them as %2F'],
  ['postgres://u:12?cret@h/db', '? among them as %3F'],
  ['postgres://u:se%cret@h/db', '% among them as %25'],
  ['postgres://u:se%cr/et@h/db', '/ among them as %2F'],
  ['postgres://u:p@h1:5432:cret/db', 'the port of a host is not a number'],
  ['postgres://u:cret/db', 'the port of a host is not a number'],
  ['postgres://u:cret@h1,h2,h3/db?port=1,2', 'another number of ports than of hosts'],
  ['postgres://u:cret@h:99999/db', 'is no address of PostgreSQL'],
  ['postgres://u:cret@h/db?target_session_attrs=writable', 'target_session_attrs must be one of any, read-write'],
  ['mysql://u:cret@h/db', 'must begin with postgres://'],
])('%s: says what to change, without the password', (address, told) => {
  const read = () => readPostgresAddress(address)
  expect(read).toThrow(told)
  expect(read).not.toThrow('cr')
})
