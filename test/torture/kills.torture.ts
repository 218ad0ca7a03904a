import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { reconcile } from '../../src/server/money/ledger/reconcile.ts'
import { testCore } from '../helpers/core.ts'
import { freshDatabase } from '../helpers/databases.ts'
import { freePort } from '../helpers/free-port.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { randomsOf } from '../helpers/randoms.ts'
import { countWords, type Entry, promptText, startFakeUpstream } from '../helpers/upstream.ts'
import { allEnded, allServe, killOne, servingProcesses } from '../helpers/workers.ts'

/**
 * A server that is killed repeatedly, KILLS times (200) on either database, while 64 callers send requests without a pause: at random, and
 * at the steps around the money. Of three processes that share a port all, the owner or a worker are killed, a quarter as often. SEED names
 * the run. Every word costs one unit, so that each charge can be verified by counting.
 */
const killsWanted = Number(process.env.KILLS ?? 200)
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const callers = 64

/** When the kill happens: after a random time, or as soon as a request has reached this step. */
const moments = ['at random', 'asked', 'failed', 'first word', 'last word', 'end', 'seen'] as const
/** What is killed when there are several processes. */
const victims = ['all', 'owner', 'worker', 'worker'] as const
type Moment = (typeof moments)[number]
/** Before every twentieth kill the streams are long enough to write checkpoints, which takes five seconds. */
const longEvery = 20
const noteLatestMs = 8_000

/** One request as its caller saw it. */
interface Told {
  readonly user: string
  readonly prompt: number
  id: string
  words: number
  isWhole: boolean
  /** The time for which an answer had been streaming when it was cut. */
  openMs: number
}

describe.each([
  { kind: 'sqlite', workers: 1, kills: killsWanted },
  { kind: 'postgres', workers: 1, kills: killsWanted },
  // Each kill takes several times as long, until all processes serve again.
  { kind: 'sqlite', workers: 3, kills: Math.ceil(killsWanted / 4) },
  { kind: 'postgres', workers: 3, kills: Math.ceil(killsWanted / 4) },
] as const)('a server of $workers processes on $kind', ({ kind, workers, kills }) => {
  const ends: (() => Promise<unknown>)[] = []
  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  it(`[T142] [T149] killed ${kills} times under ${callers} callers charges each complete answer once, each other by its checkpoint, and leaves no hold for ever (SEED=${seed})`, async () => {
    const random = randomsOf(seed)
    const upTo = (limit: number) => Math.floor(random() * limit)
    let reached: (moment: Moment) => void = () => {}
    let isLong = false
    const upstream = await startFakeUpstream({
      programs: {
        good: (_entry, response) => {
          reached('asked')
          const write = response.write.bind(response)
          const words = isLong ? 2000 : 1 + upTo(40)
          // The simulated provider writes an event at a time, as bytes and without a callback.
          response.write = ((bytes: Buffer) => {
            const isTaken = write(bytes)
            const text = bytes.toString()
            if (text.includes('"word1"')) reached('first word')
            if (text.includes(`word${words}"`)) reached('last word')
            if (text.includes('[DONE]')) reached('end')
            return isTaken
          }) as typeof response.write
          return { words, pauseMs: isLong ? 20 : upTo(3) * 5 }
        },
        failing: () => {
          setImmediate(reached, 'failed')
          return { status: 500 }
        },
      },
    })
    ends.push(() => upstream.stop())
    const database = await freshDatabase(kind)
    ends.push(() => database.drop())
    const settings = { WORKERS: String(workers), PORT: String(await freePort()) }
    let server = await startProcess(database, settings)
    ends.push(() => server.kill('SIGKILL'))
    const key = await furnish(server, upstream.url)
    if (workers > 1) await allServe(server, workers)

    const told: Told[] = []
    let isOver = false
    let isUp = true
    const call = async () => {
      while (!isOver) {
        if (!isUp) {
          await pause(20)
          continue
        }
        const prompt = 1 + upTo(60)
        const one: Told = { user: `request-${told.length}`, prompt, id: '', words: 0, isWhole: false, openMs: 0 }
        told.push(one)
        await ask(server.url, key, one, { model: random() < 0.1 ? 'failing' : 'good', stream: random() < 0.8 }).catch(() => {})
        if (one.isWhole) reached('seen')
      }
    }
    const calls = Array.from({ length: callers }, call)

    const struck: Record<string, number> = {}
    for (let kill = 1; kill <= kills; kill++) {
      isLong = kill % longEvery === 0
      const moment = isLong ? 'at random' : (moments[upTo(moments.length)] ?? 'at random')
      await pause(isLong ? noteLatestMs + 4000 : 50 + upTo(moment === 'at random' ? 1200 : 400))
      if (moment !== 'at random')
        await Promise.race([
          new Promise<void>((resolve) => {
            reached = (now) => now === moment && resolve()
          }),
          pause(5000),
        ])
      isUp = false
      const victim = workers === 1 ? 'all' : (victims[upTo(victims.length)] ?? 'all')
      if (victim === 'all') {
        const processes = workers === 1 ? [] : servingProcesses(server)
        await server.kill('SIGKILL')
        await allEnded(processes)
        server = await startProcess(database, settings)
        if (workers > 1) await allServe(server, workers)
      } else await killOne(server, victim, workers)
      reached = () => {}
      struck[`${victim} ${moment}`] = (struck[`${victim} ${moment}`] ?? 0) + 1
      isUp = true
    }
    isLong = false
    await pause(500)
    isOver = true
    await Promise.all(calls)

    const open = await database.open()
    ends.push(() => open.close())
    const core = await testCore(open)
    const since = performance.now()
    const held = () => core.db.selectFrom('holds').select('request_id').execute()
    while ((await held()).length > 0 && performance.now() - since < 120_000) await pause(500)
    expect(await held()).toEqual([])
    const closedIn = Math.round((performance.now() - since) / 1000)
    await server.kill('SIGTERM')

    const rows = await core.db.selectFrom('logs').selectAll().where('type', '=', 2).execute()
    const ledger = await core.db.selectFrom('ledger').select(['reference', 'amount']).where('kind', '=', 'charge').execute()
    const amounts = new Map(ledger.map(({ reference, amount }) => [reference.slice('charge:'.length), -amount]))
    expect([amounts.size, rows.length]).toEqual([ledger.length, ledger.length])
    expect(
      rows.filter((row) => row.quota !== row.prompt_tokens + row.completion_tokens || amounts.get(row.request_id) !== row.quota),
    ).toEqual([])
    const rowOf = new Map(rows.map((row) => [row.request_id, row]))
    const whole = told.filter(({ isWhole }) => isWhole)
    const wrong = whole.filter(({ id, prompt, words }) => {
      const row = rowOf.get(id)
      return row?.prompt_tokens !== prompt || row.completion_tokens !== words || row.other.includes('"interrupted"')
    })
    expect(wrong).toEqual([])
    const wholeIds = new Set(whole.map(({ id }) => id))
    const others = rows.filter(({ request_id: id }) => !wholeIds.has(id))
    const noted = others.filter(({ other }) => other.includes('"interrupted":"node"'))
    // The server also reads the provider's list of models, which has no body.
    const journal = upstream.journal.filter(({ json }) => json !== undefined)
    requireNotes(told, noted, journal)
    if (kills >= longEvery) expect(noted.length).toBeGreaterThan(callers / 4)
    const wholeUsers = new Set(whole.map(({ user }) => user))
    requireGrounds(
      others.filter((row) => !noted.includes(row)),
      journal.filter(({ json }) => !wholeUsers.has(json.user)),
    )
    expect(await reconcile(core)).toEqual([])
    console.log(
      `${kind}: ${told.length} requests, ${whole.length} whole, ${rows.length - whole.length} others charged, ${noted.length} by their notes; ` +
        `all holds closed ${closedIn} s after the last kill; ${JSON.stringify(struck)}`,
    )
    expect(whole.length).toBeGreaterThan(kills)
  })
})

interface Row {
  readonly request_id: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
}

/**
 * Long streams have written a checkpoint of their usage: of the prompt, and of words already sent. A word is four tokens at most.
 */
function requireNotes(told: readonly Told[], noted: readonly Row[], journal: readonly Entry[]): void {
  const rowOf = new Map(noted.map((row) => [row.request_id, row]))
  const sent = new Map(journal.map(({ json, wordsSent }) => [json.user, wordsSent]))
  for (const { id, user, openMs, isWhole } of told) {
    const row = rowOf.get(id)
    const isLong = !isWhole && openMs > noteLatestMs
    if (isLong) expect([id, row !== undefined && row.completion_tokens > 0]).toEqual([id, true])
    if (!row) continue
    rowOf.delete(id)
    expect([row, row.prompt_tokens > 0, row.completion_tokens <= 4 * (sent.get(user) ?? 0)]).toEqual([row, true, true])
  }
  expect([...rowOf]).toEqual([])
}

/**
 * Every charge of an answer that its caller did not receive completely matches a complete answer of the upstream, each a different
 * one.
 */
function requireGrounds(rows: readonly Row[], journal: readonly Entry[]): void {
  const said = new Map<string, number>()
  for (const { json, status, wordsSent } of journal) {
    if (status !== 200) continue
    const key = `${countWords(promptText(json))} ${wordsSent}`
    said.set(key, (said.get(key) ?? 0) + 1)
  }
  for (const row of rows) {
    const key = `${row.prompt_tokens} ${row.completion_tokens}`
    const left = said.get(key) ?? 0
    expect([row, left > 0]).toEqual([row, true])
    said.set(key, left - 1)
  }
}

async function furnish(server: ServerProcess, url: string): Promise<string> {
  const ones = JSON.stringify({ good: 1, failing: 1 })
  for (const option of ['ModelRatio', 'CompletionRatio']) await server.call('PUT /api/option/', { key: option, value: ones })
  await server.call('POST /api/channel/', { name: 'x', type: 1, key: 'k', base_url: url, models: 'good,failing', auto_ban: 0 })
  const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })
  await server.call('POST /api/user/1/quota', { change: 1_000_000_000, reason: 'kills' })
  return `sk-${key}`
}

async function ask(url: string, key: string, told: Told, more: { model: string; stream: boolean }): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...more, user: told.user, messages: [{ role: 'user', content: 'word '.repeat(told.prompt) }] }),
  })
  told.id = response.headers.get('x-request-id') ?? ''
  const since = performance.now()
  let text = ''
  try {
    // The DOM types do not declare a body as iterable.
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) text += Buffer.from(piece).toString('latin1')
    told.isWhole = response.status === 200 && (!more.stream || (text.endsWith('data: [DONE]\n\n') && !text.includes('"error"')))
  } finally {
    told.openMs = performance.now() - since
    told.words = text.match(/word\d+/g)?.length ?? 0
  }
}
