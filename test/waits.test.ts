import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

// A test waits for the row, event or reply itself, and asserts nothing about elapsed time: a busy machine fails such tests. The
// exceptions are named here, with their number and reason.

/** A pause of a fixed time. */
const pause =
  /await (?:new Promise(?:<\w+>)?\(\(resolve\) => setTimeout\(resolve, |wait\(|pause\((?!\))|soon\()|requestAnimationFrame\(\(\) => setTimeout/g
/** A limit to the time that something took. */
const limit =
  /toBeLessThan(?:OrEqual)?\(scaledByLoad\(|< scaledByLoad\(|> since \+ scaledByLoad\(|timeout: scaledByLoad\(|askedMs\)\.toBeLessThan/g

const interval = 'the interval of a poll'
const nothingMore = 'nothing more must come: the pause can only fail to find a fault'
const spread = 'spreads what is sent over time; nothing is asserted about when'
const upstream = 'the pace of a simulated upstream'
const deadline = 'a deadline that is set; it is stretched by the load of the machine'
const promise = 'the specification promises this time; it is stretched by the load of the machine'

const exceptions: Readonly<Record<string, readonly [pauses: number, limits: number, reason: string]>> = {
  'src/server/people/accounts/human-check.test.ts': [0, 1, promise],
  'src/server/base/bus/bus.test.ts': [2, 1, nothingMore],
  'src/server/console/calls/users.test.ts': [0, 2, promise],
  'src/server/base/lib/net/http-client.test.ts': [1, 0, nothingMore],
  'src/server/gateway/limits/redis-windows.test.ts': [
    5,
    1,
    'windows pass by the clock of Redis, which no test moves; else the interval of a poll',
  ],
  'src/server/gateway/protocols/count-tokens.test.ts': [
    0,
    1,
    'that the event loop stays free can only be timed; it is stretched by the load of the machine',
  ],
  'src/server/money/ledger/committer.test.ts': [1, 0, interval],
  'src/server/money/ledger/sqlite/journalled-charges.test.ts': [0, 1, promise],
  'src/server/money/ledger/outage.test.ts': [1, 0, interval],
  'src/server/money/ledger/withdraw.test.ts': [1, 0, interval],
  'test/browser/hostile.test.ts': [1, 0, nothingMore],
  'test/helpers/app.ts': [1, 0, interval],
  'test/helpers/mariadb-server.ts': [1, 0, interval],
  'test/helpers/other-nodes.ts': [1, 0, spread],
  'test/helpers/paced-callers.ts': [1, 0, spread],
  'test/helpers/pgbouncer.ts': [1, 0, interval],
  'test/helpers/proxy-process.ts': [1, 0, interval],
  'test/helpers/redis-server.ts': [1, 0, interval],
  'test/import.test.ts': [1, 0, interval],
  'test/nodes.test.ts': [1, 1, promise],
  'test/options.test.ts': [0, 2, promise],
  'test/relay/edge.test.ts': [2, 0, spread],
  'test/relay/holds.test.ts': [4, 0, `${spread}; ${nothingMore}`],
  'test/relay/moderation.test.ts': [1, 0, upstream],
  'test/relay/pictures.test.ts': [2, 2, `${nothingMore}; ${deadline}`],
  'test/relay/realtime.test.ts': [1, 0, nothingMore],
  'test/relay/slow-streams.test.ts': [1, 0, nothingMore],
  'test/relay/stage.ts': [1, 0, interval],
  'test/relay/transport.test.ts': [0, 1, promise],
  'test/relay/trust-clients.test.ts': [2, 1, `${nothingMore}; ${spread}; ${promise}`],
  'test/relay/trust-stage.ts': [1, 0, spread],
  'test/relay/vectors.test.ts': [1, 0, upstream],
  'test/standstill.test.ts': [1, 0, 'a process stands still for real, by SIGSTOP'],
  'test/trust-storage.test.ts': [3, 11, promise],
}

const files = ['src/', 'test/'].flatMap((folder) =>
  readdirSync(new URL(`../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && (folder === 'test/' || /\.test\.tsx?$/.test(name)))
    .filter((name) => !/^(?:torture|clients|containers)\/|^waits\.test\.ts$/.test(name))
    .map((name) => folder + name),
)

it('no test pauses for a fixed time or limits the time that something takes, except named exceptions', () => {
  const found = files.flatMap((name) => {
    const text = readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
    const counts = [pause, limit].map((pattern) => text.match(pattern)?.length ?? 0)
    return counts.some((count) => count > 0) ? [[name, ...counts]] : []
  })
  const named = Object.entries(exceptions).map(([name, [pauses, limits]]) => [name, pauses, limits])
  expect(found.toSorted()).toEqual(named.toSorted())
})
