import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { pollTasks } from '../../src/server/gateway/tasks/poll.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import { newClock } from '../helpers/clock.ts'
import type { DatabaseKind } from '../helpers/databases.ts'
import { addChannel, addToken, books } from '../helpers/seed.ts'
import { startTaskPeer } from '../helpers/task-peer.ts'

export const upstreamKey = 'task-peer-key-0123456789'
const drawingModels =
  'mj_imagine,mj_upscale,mj_variation,mj_reroll,mj_blend,mj_describe,mj_shorten,mj_uploads,swap_face,mj_inpaint,mj_modal'
/** Units of a drawing at the default price of 0.1 dollars, and at half of it. */
export const [drawingUnits, smallUnits] = [50_000, 25_000]

type Json = Record<string, unknown>

/** A server with a channel for drawings and one for music, both to one peer, a token of its owner, and a clock of the test's. */
export async function taskStage(kind: DatabaseKind) {
  const peer = await startTaskPeer()
  const clock = newClock(Date.now())
  const server = await startServer(kind, { now: () => clock.now() })
  const drawingChannel = await addChannel(server, { url: peer.url, type: 2, models: drawingModels, key: upstreamKey })
  const musicChannel = await addChannel(server, { url: peer.url, type: 36, models: 'suno_music,suno_lyrics', key: upstreamKey })
  const token = await addToken(server)

  const ask = async (
    line: string,
    body?: unknown,
    headers: Record<string, string> = { authorization: `Bearer ${token.key}` },
  ) => {
    const [method = 'GET', path = '/'] = line.split(' ')
    const response = await fetch(server.url + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, json: readJson(text) }
  }
  return {
    peer,
    clock,
    server,
    token,
    drawingChannel,
    musicChannel,
    ask,
    /** Orders a drawing and returns the id that the peer gave it. */
    async draw(prompt = 'a cat') {
      const { json } = await ask('POST /mj/submit/imagine', { prompt })
      return String(json.result)
    },
    fetched: async (id: string) => (await ask(`GET /mj/task/${id}/fetch`)).json,
    /** Advances the clock, and runs the poller. */
    async poll(seconds = 60, node: TestServer = server) {
      clock.passSeconds(seconds)
      return pollTasks(node.app, new AbortController().signal)
    },
    set: (key: string, value: unknown) => server.call('PUT /api/option/', { key, value: String(value) }),
    /** Stops polling the tasks that earlier cases have left running. */
    async forget() {
      for (const table of ['midjourneys', 'tasks'] as const) await server.app.db.updateTable(table).set({ ask_at: 0 }).execute()
    },
    async stop() {
      await server.stop()
      await peer.stop()
    },
  }
}

type TaskStage = Awaited<ReturnType<typeof taskStage>>

interface TaskSuite {
  readonly stage: TaskStage
  /** The amount spent since the case began, and the number of charges and refunds. */
  since(): Promise<{ spent: number; charges: number; refunds: number }>
}

/** Runs the same cases on both databases, over one stage for each. No case may leave a unit held. */
export function describeTasks(name: string, cases: (suite: TaskSuite) => void): void {
  for (const kind of ['sqlite', 'postgres'] as const) {
    describe(`${name} (${kind})`, () => {
      let stage: TaskStage
      let before: Awaited<ReturnType<typeof spentBy>>
      beforeAll(async () => {
        stage = await taskStage(kind)
      })
      afterAll(() => stage.stop())
      beforeEach(async () => {
        await stage.forget()
        before = await spentBy(stage.server)
      })
      afterEach(async () => {
        stage.peer.program = undefined
        expect((await spentBy(stage.server)).held).toBe(0)
      })
      cases({
        get stage() {
          return stage
        },
        async since() {
          const now = await spentBy(stage.server)
          return {
            spent: now.spent - before.spent,
            charges: now.charges - before.charges,
            refunds: now.refunds - before.refunds,
          }
        },
      })
    })
  }
}

function readJson(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** The amount spent by root since the start: charges minus refunds. */
export async function spentBy(server: TestServer): Promise<{ spent: number; charges: number; refunds: number; held: number }> {
  const { users, ledger: everybodys } = await books(server)
  const ledger = everybodys.filter((row) => row.user_id === 1)
  const moves = ledger.filter(({ kind }) => kind === 'charge' || kind === 'refund')
  const root = users.find(({ id }) => id === 1)
  const spent = moves.reduce((sum, { amount }) => sum - amount, 0)
  if (root?.used_quota !== spent) throw new Error(`used ${root?.used_quota}, but the ledger says ${spent}`)
  const all = ledger.reduce((sum, { amount }) => sum + amount, 0)
  if (root.quota !== all) throw new Error(`the balance is ${root.quota}, but the ledger says ${all}`)
  const count = (kind: string) => ledger.filter((row) => row.kind === kind).length
  return { spent, charges: count('charge'), refunds: count('refund'), held: root.held }
}
