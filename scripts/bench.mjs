// `npm run bench`: measures the cost of a request in Sluice with all features enabled, compared to nginx and to the provider alone, in one run.
//   --quick            one short round          --seconds N, --rounds N      length and number of runs
//   --works json,open  some of the works        --targets nginx,sqlite       some of direct, nginx, floor, sqlite, member, postgres, workers, before
//   --neighbour MB     beside a program that walks through so much memory, on the core of the load
//   --users N          calls of so many users, by default one, whose row every charge locks on PostgreSQL
//   --before FOLDER    a built checkout of another version, measured on SQLite beside this one: the target `before`
//   --profile          a CPU profile of Sluice on SQLite in ./bench-profile
//   --heap             instead: the bytes that Sluice on SQLite, and `before`, allocate for each request of the works, and by which functions; of
//                      the paced streams also the bytes that an open one holds
//   --console          instead: how long screens of the console take until they are usable, alone and beside the works
//   --cores            instead: the requests of one process and of two, with every core for all programs, and how many cores they use
//   --write            writes the tables into docs/performance.md
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { cpus, release, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { visitScreens } from './bench/console.mjs'
import { allocatedBy, inspectable, liveBytes } from './bench/heap.mjs'
import { works as allWorks, measure, medianOf, modelOf } from './bench/measure.mjs'
import { figures, ratios } from './bench/report.mjs'
import {
  pinToRest,
  placement,
  startFloor,
  startNeighbour,
  startNginx,
  startSluice,
  startUpstream,
  tools,
} from './bench/targets.mjs'
import { buildWhenStale } from './build.mjs'
import { installWhenNeeded } from './lib/install.mjs'
import { root } from './lib/process.mjs'

const { values: given } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    profile: { type: 'boolean' },
    heap: { type: 'boolean' },
    console: { type: 'boolean' },
    cores: { type: 'boolean' },
    write: { type: 'boolean' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    works: { type: 'string' },
    targets: { type: 'string' },
    users: { type: 'string', default: '1' },
    before: { type: 'string' },
    neighbour: { type: 'string' },
  },
})
const seconds = Number(given.seconds ?? (given.quick ? 2 : 6))
const rounds = Number(given.rounds ?? (given.quick ? 1 : 3))
const works = allWorks.filter((work) => !given.works || given.works.split(',').includes(work.key))
const wanted = (given.targets ?? `direct,nginx,floor,sqlite,${given.before ? 'before' : 'postgres'}`).split(',')
const tokens = given.quick ? 100 : 10_000

await installWhenNeeded({ tests: true })
await buildWhenStale({ only: ['server'] })

const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
const place = await placement()
const running = []
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
try {
  const { compiled, upstream: provider, load } = await tools(folder)
  if (given.heap) await showHeap(provider, load)
  else if (given.console) await showConsole(provider, load)
  else if (given.cores) await showCores(provider, load)
  else {
    const targets = await startTargets(provider)
    if (given.neighbour) await kept(startNeighbour(given.neighbour, place.rest))
    const results = await measureAll(targets, load)
    const notes = await describe(targets, compiled)
    const report = `${notes.join('\n')}\n\n${figures(works, targets, results)}\n\n${ratios(results, targets)}\n`
    console.log(`\n${report}`)
    if (given.write) await write(report)
  }
} finally {
  for (const target of running.reverse()) await target.stop()
  await rm(folder, { recursive: true, force: true })
}

/** The profile slows the server down, so that nothing else is measured in the same run. */
async function showHeap(provider, load) {
  const upstream = await kept(startUpstream(provider, place.rest))
  const settings = onSqlite(upstream, place)
  const checkouts = [{ name: 'Sluice' }, ...(given.before ? [{ name: 'before', checkout: resolve(given.before) }] : [])]
  for (const { name, ...checkout } of checkouts) {
    const { port, ...start } = await inspectable()
    const target = await kept(startSluice(folder, { name, ...settings, ...checkout, ...start }))
    await warmUp(target, load)
    for (const work of works) {
      const run = () => measure({ folder, load, prefix: place.rest, target, work, seconds })
      const { all, own, greatest } = await allocatedBy(port, async () => (await run()).requests)
      console.log(
        `\n${name}, ${work.title}: ${kilobytes(all)} KB allocated for each request, ${kilobytes(own)} KB of them by its own functions`,
      )
      for (const { name: of, bytes } of greatest) console.log(`${kilobytes(bytes).padStart(8)} KB  ${of}`)
      if (work.rampMs) console.log(`\n${kilobytes(await heldByStream(port, work, run))} KB held by each open stream`)
    }
  }
}

/** The browser shares the core of the load and the provider, and precedes them: the browser of an admin runs on another machine. */
async function showConsole(provider, load) {
  const prefix = ['nice', '-n', '10', ...place.rest]
  const upstream = await kept(startUpstream(provider, prefix))
  const target = await kept(startSluice(folder, { name: 'Sluice', ...onSqlite(upstream, place) }))
  await warmUp(target, load)
  if (place.pins) await pinToRest(process.pid)

  const visits = { alone: await visitScreens(target, rounds) }
  for (const work of works) {
    const visited = new AbortController()
    const running = repeat(visited.signal, () => measure({ folder, load, prefix, target, work, seconds }))
    visits[work.title] = await visitScreens(target, rounds)
    visited.abort()
    const { perSecond, failed } = medianOf(await running)
    console.log(`${work.title}: ${Math.round(perSecond)}/s meanwhile, ${failed} failed`)
  }
  for (const [title, screens] of Object.entries(visits)) {
    console.log(`\nUntil usable, ${title}`)
    for (const { path, firstMs, againMs } of screens)
      console.log(`${path}: ${firstMs.toFixed(0)} ms, again ${againMs.toFixed(0)} ms`)
  }
}

/** One and two processes in turn. Nothing is pinned to a core, and there are enough connections for equal shares of both processes. */
async function showCores(provider, load) {
  const upstream = await kept(startUpstream(provider, []))
  const settings = onSqlite(upstream, { gateway: [] })
  const one = await kept(startSluice(folder, { name: 'One process', ...settings }))
  const two = await kept(startSluice(folder, { name: 'Two processes', ...settings, workers: 2 }))
  for (const target of [one, two]) await warmUp(target, load)

  for (const work of works) {
    const connections = Math.max(work.connections, 256)
    console.log(`\n${work.title.replace(/, \d+ connections/, '')}, ${connections} connections`)
    const runs = new Map([one, two].map((target) => [target, []]))
    for (let round = 0; round < rounds; round++) {
      for (const [target, measured] of runs) {
        const usedBefore = usedMs()
        const run = await measure({ folder, load, prefix: [], target, work: { ...work, connections }, seconds })
        const cores = (ms) => (ms / run.seconds / 1000).toFixed(2)
        measured.push(run)
        console.log(
          `${target.name}: ${Math.round(run.perSecond)}/s, CPU ${run.cpuPerRequest.toFixed(1)} µs, ${cores((run.cpuPerRequest * run.requests) / 1000)} cores, everything on the machine ${cores(usedMs() - usedBefore)}, ${run.failed} failed`,
        )
      }
    }
    const [ofOne, ofTwo] = [...runs.values()].map(medianOf)
    console.log(
      `${(ofTwo.perSecond / ofOne.perSecond).toFixed(2)} times the requests of one process, ${(ofTwo.cpuPerRequest / ofOne.cpuPerRequest).toFixed(2)} times the processor time of each`,
    )
  }
}

function onSqlite(upstream, at) {
  return { database: 'sqlite', upstreamPort: upstream.port, place: at, models: allWorks.map(modelOf), tokens }
}

/** The processor time of all cores since the start of the machine that was not idle. */
function usedMs() {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0)
}

async function repeat(signal, run) {
  const results = []
  do results.push(await run())
  while (!signal.aborted)
  return results
}

/** Measured when all streams are open; streams that end meanwhile are replaced by new ones. */
async function heldByStream(port, work, run) {
  const before = await liveBytes(port)
  const running = run()
  await pause(work.rampMs + 2000)
  const held = (await liveBytes(port)) - before
  await running
  return held / work.connections
}

function kilobytes(bytes) {
  return (bytes / 1024).toFixed(1)
}

async function startTargets(provider) {
  const upstream = await kept(startUpstream(provider, place.rest))
  const upstreamPort = upstream.port
  const models = allWorks.map(modelOf)
  const sluice = (name, database, more = {}) =>
    kept(startSluice(folder, { name, database, upstreamPort, place, models, tokens, users: Number(given.users), ...more }))
  const profile = given.profile ? ['--cpu-prof', `--cpu-prof-dir=${join(root, 'bench-profile')}`] : []

  const starts = {
    direct: { name: 'direct', start: async () => upstream },
    nginx: { name: 'nginx', missing: 'not installed', start: () => kept(startNginx(folder, upstreamPort, place.gateway)) },
    floor: { name: 'floor', start: () => kept(startFloor(upstreamPort, place.gateway)) },
    sqlite: { name: 'Sluice, SQLite', start: () => sluice('Sluice, SQLite', 'sqlite', { nodeArgs: profile }) },
    member: {
      name: 'Sluice, SQLite, a member three teams deep',
      start: () => sluice('Sluice, SQLite, a member three teams deep', 'sqlite', { isOfMember: true }),
    },
    postgres: {
      name: 'Sluice, PostgreSQL',
      missing: 'PostgreSQL did not start',
      start: () => sluice('Sluice, PostgreSQL', 'postgres'),
    },
    workers: {
      name: 'Sluice, SQLite, 2 processes on both cores',
      start: () => sluice('Sluice, SQLite, 2 processes on both cores', 'sqlite', { workers: 2 }),
    },
  }
  if (given.before)
    starts.before = { name: 'before', start: () => sluice('before', 'sqlite', { checkout: resolve(given.before) }) }
  const targets = []
  for (const key of wanted) {
    const { name, missing, start } = starts[key]
    const target = await start().catch((error) => {
      if (key !== 'postgres') throw error
      console.error(`PostgreSQL is left out: ${error.message}`)
    })
    targets.push(target ?? { name, missing })
  }
  return targets
}

async function kept(starting) {
  const target = await starting
  if (target) running.push(target)
  return target
}

/** Interleaved: every target runs a work before the next work begins, and each round begins with another target. */
async function measureAll(targets, load) {
  const present = targets.filter((target) => target.pids)
  const runs = Object.fromEntries(works.map((work) => [work.key, Object.fromEntries(present.map((target) => [target.name, []]))]))
  for (const target of present) target.answered = await warmUp(target, load)

  for (let round = 0; round < rounds; round++) {
    const turn = present.map((_, index) => present[(index + round) % present.length])
    for (const work of works) {
      for (const target of turn) {
        const settings = { folder, load, prefix: place.rest, target, work }
        const run = await measure({ ...settings, seconds: work.rampMs ? Math.max(seconds, 4) : seconds })
        await target.checkpoint?.()
        runs[work.key][target.name].push(run)
        target.answered += run.requests
        console.log(
          `round ${round + 1}: ${work.title}, ${target.name}: ${Math.round(run.perSecond)}/s, CPU ${run.cpuPerRequest?.toFixed(1) ?? '–'} µs, p99 ${(run.p99 / 1000).toFixed(2)} ms, ${run.failed} failed${run.failed > 0 ? ` (status ${run.failedStatus})` : ''}`,
        )
      }
    }
  }
  return Object.fromEntries(
    works.map((work) => [
      work.key,
      Object.fromEntries(present.map((target) => [target.name, medianOf(runs[work.key][target.name])])),
    ]),
  )
}

/** Sends calls and streams until the compiler has optimized the complete path; returns the number of requests. */
async function warmUp(target, load) {
  let answered = 0
  for (const work of allWorks.filter((work) => !work.rate && !work.rampMs)) {
    const run = await measure({ folder, load, prefix: place.rest, target, work, seconds: 2 })
    answered += run.requests
  }
  return answered
}

async function describe(targets, compiled) {
  const notes = [
    `${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores; ${process.platform} ${release()}; Node ${process.versions.node}; ${new Date().toISOString().slice(0, 10)}.`,
    place.pins
      ? 'The gateway runs on one core; load, provider and PostgreSQL share the other.'
      : 'Nothing is pinned to a core here: the figures say little.',
    `Median of ${rounds} interleaved round${rounds === 1 ? '' : 's'} of ${seconds} s. ${tokens} tokens in the database, ${given.users} user${given.users === '1' ? '' : 's'}.`,
  ]
  if (given.neighbour) notes.push(`Beside a program that walks through ${given.neighbour} MB of memory.`)
  if (!compiled)
    notes.push(
      'No C compiler: provider and load are written in JavaScript and are themselves the limit. Install gcc for real figures.',
    )
  if (!targets.some((target) => target.name === 'nginx' && target.pids))
    notes.push('Without nginx there is nothing to compare with. Install it with: apt-get install nginx-light.')
  for (const target of targets.filter(({ charged }) => charged)) {
    notes.push(`${target.name}: ${await target.charged()} charges for ${target.answered} answered requests.`)
  }
  return notes
}

async function write(report) {
  const intro = `# Performance

Written by \`npm run bench -- --write\`; run it without \`--write\` to compare another machine. Absolute figures move with the machine and with
what else runs on it: the ratios inside one run are what counts, and processor time per request is the steadiest of them.

Sluice runs with everything on: token, limits, group, routing, price, hold, durable charge (SQLite with \`synchronous=FULL\`), log row.
The load and the provider are small programs of their own, so that neither is what is measured. Latencies of the paced work are the delays
of single chunks. The last table compares with nginx \`proxy_pass\` and with the targets that the project sets itself.
`
  const file = join(root, 'docs/performance.md')
  // The sections below the tables are written by hand and by bench-lists.mjs.
  const text = await readFile(file, 'utf8').catch(() => '')
  const below = text.indexOf('\n## ')
  await writeFile(file, `${intro}\n${report}${below < 0 ? '' : text.slice(below)}`)
  console.log('Written to docs/performance.md')
}
