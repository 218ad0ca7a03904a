import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { OrganisationBudget } from '../../src/contract/entities/budget.ts'
import type { Organisation, Team } from '../../src/contract/entities/organisation.ts'
import { serverOfTest, startServer, type TestServer } from '../helpers/app.ts'
import { type DatabaseKind, freshDatabase, type TestDatabase } from '../helpers/databases.ts'
import { freePort } from '../helpers/free-port.ts'
import { type Member, member } from '../helpers/members.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { randomsOf } from '../helpers/randoms.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { addChannel, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { allServe, killOne } from '../helpers/workers.ts'
import { settledCharges } from '../relay/stage.ts'

/**
 * Budgets of a random organisation: teams to five levels, 12 members, 24 tokens and 40 budgets of every window, hard and soft, which 256
 * callers exhaust on several nodes while these are killed or their clocks step. TREE_CALLS (6,000) and SEED.
 */
const callsWanted = Number(process.env.TREE_CALLS ?? 6000)
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const callers = 256
const counts = { teams: 15, members: 12, tokens: 24, budgets: 40 }
const levelsMax = 5

/** Models with a price per call, in units. */
const prices = { small: 10, medium: 30, large: 70 } as const
type Model = keyof typeof prices
const models = Object.keys(prices) as Model[]
const expected = (callsWanted * (prices.small + prices.medium + prices.large)) / 3

interface Token {
  readonly id: number
  readonly key: string
  readonly memberId: number
  readonly teamId: number
}

/** The organisation as it was built: what a budget counts follows from it. */
interface Tree {
  readonly id: number
  readonly teams: ReadonlyMap<number, { readonly parent: number; readonly name: string }>
  readonly members: readonly number[]
  readonly tokens: readonly Token[]
  readonly budgets: readonly (Pick<OrganisationBudget, 'id' | 'scope' | 'amount' | 'is_hard'> & { readonly subject: number })[]
}

interface Nodes {
  urls(): readonly string[]
  /** Calls the console of the first node. */
  call<Data>(line: string): Promise<Data>
  /** Kills a process, or lets a clock step. Resolves when calls are served again. */
  disturb(): Promise<void>
  stop(): Promise<void>
}

type Start = (database: TestDatabase, random: () => number) => Promise<Nodes>

const ways: readonly (readonly [name: string, kind: DatabaseKind, start: Start])[] = [
  ['three nodes of PostgreSQL and Redis that are killed', 'postgres', killedNodes],
  ['three nodes of PostgreSQL and Redis whose clocks step', 'postgres', steppingNodes],
  ['three processes of SQLite that are killed', 'sqlite', killedWorkers],
]

describe.each(ways)('%s', (_name, kind, start) => {
  it(`exceed no budget at any height, count what is below, and name the one with the least left (SEED=${seed})`, async () => {
    const random = randomsOf(seed)
    const upstream = await upstreamOfTest({
      programs: Object.fromEntries(models.map((each) => [each, { words: 3, pauseMs: 5 }])),
    })
    const database = await freshDatabase(kind, 'started')
    onTestFinished(() => database.drop())
    // Each person has an address of their own, so that limits of clients do not add up.
    const desk = await startServer(kind, { database, env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
    await setOptions(desk, {
      ModelPrice: Object.fromEntries(models.map((each) => [each, prices[each] / 500_000])),
    })
    await addChannel(desk, { url: upstream.url, models: models.join(',') })
    const tree = await build(desk, random)
    await desk.stop()

    const nodes = await start(database, random)
    const seen = await callUntilSpent(nodes, tree, random)
    const named = await callOneByOne(nodes, tree)
    await nodes.stop()
    console.log(`${seen.answered} answered, ${seen.refused} refused, ${seen.lost} lost; ${named} refusals of single calls`)
    expect(seen.answered).toBeGreaterThan(callsWanted / 20)
    expect(seen.refused).toBeGreaterThan(0)
    expect(named).toBeGreaterThan(0)

    const after = await serverOfTest(kind, { database })
    await settledCharges(after)
    await requireBalancedBooks(after)
    const spent = await spentByToken(after)
    const shown = await budgetsOf(after, tree)
    for (const budget of tree.budgets) {
      const below = tokensOf(tree, budget).reduce((sum, { id }) => sum + (spent.get(id) ?? 0), 0)
      const told = `${budget.scope} ${budget.subject}, ${budget.amount} units`
      if (budget.is_hard) expect(below, told).toBeLessThanOrEqual(budget.amount)
      expect(shown.get(budget.id)?.spent, told).toBe(below)
    }
  }, 1_800_000)
})

/** Founds an organisation with a random tree. */
async function build(desk: TestServer, random: () => number): Promise<Tree> {
  const upTo = (limit: number) => Math.floor(random() * limit)
  const one = <Item>(items: readonly Item[]) => items[upTo(items.length)] as Item
  const { id }: Organisation = await desk.call('POST /api/organisation/', { name: 'Tree', quota: 1_000_000_000 })
  const path = `/api/organisation/${id}`

  const teams = new Map<number, { parent: number; name: string }>()
  const level = (team: number): number => (team === 0 ? 0 : 1 + level(teams.get(team)?.parent ?? 0))
  for (let count = 1; count <= counts.teams; count++) {
    // The first ones are a chain, so that the tree has all levels.
    const parent =
      count <= levelsMax
        ? (([...teams.keys()].at(-1) ?? 0) as number)
        : one([0, ...teams.keys()].filter((team) => level(team) < levelsMax))
    const name = `Team ${count}`
    const listed: Team[] = await desk.call(`POST ${path}/teams`, { name, parent_id: parent })
    teams.set(listed.find((team) => team.name === name)?.id ?? 0, { parent, name })
  }

  const people: Member[] = []
  for (let count = 1; count <= counts.members; count++) {
    const person = await member(desk, `person${count}`)
    const from = { 'x-forwarded-for': person.headers['x-forwarded-for'] ?? '' }
    const invited = await desk.raw(`POST ${path}/invitations`, { role: 'member' }, from)
    const { secret } = ((await invited.json()) as { data: { secret: string } }).data
    await person.call('POST /api/invitation/answer', { token: secret, accept: true })
    people.push(person)
  }
  const { items } = await desk.call<{ items: { id: number; username: string }[] }>(`GET ${path}/members?page_size=100`)
  const members = people.map(({ username }) => items.find((each) => each.username === username)?.id ?? 0)

  const tokens: Token[] = []
  for (let count = 0; count < counts.tokens; count++) {
    const at = upTo(people.length)
    const [memberId, teamId] = [members[at] ?? 0, one([...teams.keys()])]
    await desk.call(`PUT ${path}/teams/members`, { team_id: teamId, member_id: memberId })
    const response = await fetch(`${desk.url}/api/token/`, {
      method: 'POST',
      headers: { ...people[at]?.headers, 'content-type': 'application/json', 'x-organisation-id': String(id) },
      body: JSON.stringify({ name: `token ${count}`, unlimited_quota: true, team_id: teamId }),
    })
    const { data } = (await response.json()) as { data: { id: number; key: string } }
    tokens.push({ id: data.id, key: `sk-${data.key}`, memberId, teamId })
  }

  const places = [
    { scope: 'organisation', subject: id },
    ...[...teams.keys()].map((subject) => ({ scope: 'team', subject }) as const),
    ...members.map((subject) => ({ scope: 'member', subject }) as const),
    ...tokens.map(({ id: subject }) => ({ scope: 'token', subject }) as const),
  ] as const
  const unbudgeted = { id, teams, members, tokens, budgets: [] }
  const budgets: Tree['budgets'][number][] = []
  for (let count = 0; count < counts.budgets; count++) {
    const place = count === 0 ? places[0] : one(places)
    const share = tokensOf(unbudgeted, place).length / counts.tokens
    const period = one(['sliding', 'day', 'week', 'month', 'total'] as const)
    const is_hard = count === 0 || random() < 0.75
    // That of the organisation is the last to be used up.
    const amount = Math.floor(expected * share * (place.scope === 'organisation' ? 0.9 : 0.2 + random() * 0.6))
    const body = {
      ...place,
      subject: String(place.subject),
      period,
      seconds: period === 'sliding' ? 7 * 86_400 : 0,
      amount,
      is_hard,
    }
    const made: { id: number } = await desk.call(`POST ${path}/budgets`, body)
    budgets.push({ id: made.id, scope: place.scope, subject: place.subject, amount, is_hard })
  }
  return { ...unbudgeted, budgets }
}

/** The tokens whose calls a budget of this place counts. */
function tokensOf(
  { teams, tokens }: Pick<Tree, 'teams' | 'tokens'>,
  { scope, subject }: Pick<Tree['budgets'][number], 'scope' | 'subject'>,
) {
  const isBelow = (team: number): boolean => team === subject || (team !== 0 && isBelow(teams.get(team)?.parent ?? 0))
  return tokens.filter(({ id, memberId, teamId }) => {
    if (scope === 'organisation') return true
    if (scope === 'team') return isBelow(teamId)
    return (scope === 'member' ? memberId : id) === subject
  })
}

/** All callers at once, while nodes are disturbed, until every call was made. */
async function callUntilSpent(nodes: Nodes, { tokens }: Tree, random: () => number) {
  const seen = { answered: 0, refused: 0, lost: 0 }
  let left = callsWanted
  const call = async () => {
    while (left-- > 0) {
      const urls = nodes.urls()
      const url = urls[Math.floor(random() * urls.length)] ?? ''
      const token = tokens[Math.floor(random() * tokens.length)] as Token
      const { status } = await ask(url, token, models[Math.floor(random() * models.length)] ?? 'small', random() < 0.3)
      if (status === 200) seen.answered++
      else if (status === 429) seen.refused++
      else {
        seen.lost++
        await pause(20)
      }
    }
  }
  let isOver = false
  const disturbing = (async () => {
    while (!isOver) {
      await pause(500)
      await nodes.disturb()
    }
  })()
  await Promise.all(Array.from({ length: callers }, call))
  isOver = true
  await disturbing
  return seen
}

/**
 * Each token makes a call that nothing runs beside. A refusal names the budget with the least left of those that the call counts at, and a
 * call is refused only where one lacks its price.
 */
async function callOneByOne(nodes: Nodes, tree: Tree): Promise<number> {
  let refused = 0
  for (const token of tree.tokens) {
    const shown = new Map(
      (await nodes.call<OrganisationBudget[]>(`GET /api/organisation/${tree.id}/budgets`)).map((each) => [each.id, each]),
    )
    const above = tree.budgets
      .filter((budget) => budget.is_hard && tokensOf(tree, budget).some(({ id }) => id === token.id))
      .map((budget) => ({
        whose: whose(tree, budget),
        left: budget.amount - (shown.get(budget.id)?.spent ?? 0) - (shown.get(budget.id)?.held ?? 0),
      }))
    const least = Math.min(...above.map(({ left }) => left))
    const { status, message } = await ask(nodes.urls()[0] ?? '', token, 'large', false)
    const told = `token ${token.id}: ${status} ${message}, of ${JSON.stringify(above)}`
    expect(status, told).toBe(least < prices.large ? 429 : 200)
    if (status === 200) continue
    refused++
    expect(
      above.filter(({ left }) => left === least).some((budget) => message.includes(budget.whose)),
      told,
    ).toBe(true)
  }
  return refused
}

/** A part of the words by which a refusal names the place of a budget. */
function whose({ teams }: Tree, { scope, subject }: Tree['budgets'][number]): string {
  if (scope === 'team') return `of the team “${teams.get(subject)?.name}”`
  return { organisation: 'of the organisation', member: 'member', token: 'API key' }[scope as 'organisation' | 'member' | 'token']
}

async function ask(url: string, { key }: Token, model: Model, stream: boolean): Promise<{ status: number; message: string }> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'accept-language': 'en' },
      body: JSON.stringify({ model, stream, max_tokens: 10, messages: [{ role: 'user', content: 'hello' }] }),
    })
    const text = await response.text()
    const { error } = response.status === 429 ? (JSON.parse(text) as { error: { message: string } }) : { error: undefined }
    return { status: response.status, message: error?.message ?? '' }
  } catch {
    return { status: 0, message: '' }
  }
}

async function spentByToken(server: TestServer): Promise<Map<number, number>> {
  const rows = await server.app.db
    .selectFrom('ledger')
    .select('token_id')
    .select(({ fn }) => fn.sum<number>('amount').as('amount'))
    .where('kind', '=', 'charge')
    .groupBy('token_id')
    .execute()
  return new Map(rows.map(({ token_id, amount }) => [Number(token_id), -Number(amount)]))
}

async function budgetsOf(server: TestServer, { id }: Tree): Promise<Map<number, OrganisationBudget>> {
  const budgets: OrganisationBudget[] = await server.call(`GET /api/organisation/${id}/budgets`)
  return new Map(budgets.map((budget) => [budget.id, budget]))
}

async function killedNodes(database: TestDatabase, random: () => number): Promise<Nodes> {
  const redis = await startRedis()
  if (redis) onTestFinished(() => redis.stop())
  const startNode = () => startProcess(database, redis ? { REDIS_URL: redis.url } : {})
  const nodes: [ServerProcess, ServerProcess, ServerProcess] = [await startNode(), await startNode(), await startNode()]
  onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.kill('SIGKILL')))))
  return {
    urls: () => nodes.map(({ url }) => url),
    call: (line) => nodes[0].call(line),
    async disturb() {
      const at = Math.floor(random() * nodes.length)
      await nodes[at]?.kill('SIGKILL')
      nodes[at as 0] = await startNode()
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.kill('SIGTERM')))
    },
  }
}

/** Their clocks step by up to two hours around noon, so that no day, week or month ends. */
async function steppingNodes(database: TestDatabase, random: () => number): Promise<Nodes> {
  const redis = await startRedis()
  if (redis) onTestFinished(() => redis.stop())
  const begun = Date.now()
  const noon = new Date(begun).setUTCHours(12, 0, 0, 0)
  const steps = [0, 0, 0]
  const env = redis ? { REDIS_URL: redis.url } : {}
  const startNode = (at: number) =>
    startServer('postgres', { database, env, now: () => noon + (Date.now() - begun) + (steps[at] ?? 0) })
  const nodes = [await startNode(0), await startNode(1), await startNode(2)] as const
  return {
    urls: () => nodes.map(({ url }) => url),
    call: (line) => nodes[0].call(line),
    async disturb() {
      steps[Math.floor(random() * steps.length)] = (random() * 2 - 1) * 7_200_000
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop(10_000)))
    },
  }
}

async function killedWorkers(database: TestDatabase, random: () => number): Promise<Nodes> {
  const server = await startProcess(database, { WORKERS: '3', PORT: String(await freePort()) })
  onTestFinished(async () => void (await server.kill('SIGKILL')))
  await allServe(server, 3)
  return {
    urls: () => [server.url],
    call: (line) => server.call(line),
    disturb: () => killOne(server, random() < 0.3 ? 'owner' : 'worker', 3),
    async stop() {
      await server.kill('SIGTERM')
    },
  }
}
