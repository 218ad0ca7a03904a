import { afterAll, beforeAll } from 'vitest'
import { startServer, type TestServer } from '../helpers/app.ts'
import type { DatabaseKind } from '../helpers/databases.ts'
import { addChannel, addToken, books, setOptions } from '../helpers/seed.ts'
import { ask, model, settledCharges, upstreamKey } from './stage.ts'

const groupsMax = 500

/**
 * One server for the tests of a file, or of a part of it, that set neither the clock nor options beside these of all. Each stage on it has its own
 * group, in which its channels and tokens are made, and sees only its own charges.
 */
export function sharedStages(kind: DatabaseKind = 'sqlite', options: Readonly<Record<string, unknown>> = {}) {
  let server: TestServer
  let stages = 0

  beforeAll(async () => {
    server = await startServer(kind, { env: { TRUSTED_PROXIES: '127.0.0.1' } })
    const groups = ['default', ...Array.from({ length: groupsMax }, (_, index) => `stage-${index}`)]
    const ofEach = <Value>(value: Value) => Object.fromEntries(groups.map((group) => [group, value]))
    await setOptions(server, { GroupRatio: ofEach(1), UserUsableGroups: ofEach('one test'), ...options })
  })
  afterAll(() => server.stop())

  return async function sharedStage(url: string, channel: Record<string, unknown> = {}) {
    const number = stages++
    const group = `stage-${number}`
    // The console limits how often one address calls it.
    const address = `10.0.${number >> 10}.${(number >> 2) & 255}`
    const ownTokens = new Set<number>()
    const own: TestServer = {
      ...server,
      ownTokens,
      async call<Data>(line: string, body?: unknown) {
        if (line === 'POST /api/channel/') return callFrom<Data>(address, line, { group, ...(body as object) })
        if (line !== 'POST /api/token/') return callFrom<Data>(address, line, body)
        const made = await callFrom<Data & { id: number }>(address, line, { group, ...(body as object) })
        ownTokens.add(made.id)
        return made
      },
    }
    const channelId = await addChannel(own, { url, models: model, key: upstreamKey, ...channel })
    const token = await addToken(own)
    return {
      server: own,
      channelId,
      token,
      ask: (body: unknown, path?: string, headers?: Record<string, string>) => ask(server, token.key, body, path, headers),
      /** The log rows of its tokens. */
      async logs() {
        return (await books(own)).logs
      },
      /** The amounts that were charged through its tokens, after everything has ended. */
      async charged(): Promise<number[]> {
        return (await settledCharges(own)).map(({ amount }) => amount)
      },
      /** 1 while the channel is enabled. */
      async channelStatus(): Promise<number | undefined> {
        return (await books(server)).channels.find(({ id }) => id === channelId)?.status
      },
    }
  }

  async function callFrom<Data>(address: string, line: string, body: unknown): Promise<Data> {
    if (line.startsWith('PUT /api/option')) throw new Error('Other tests share these options: take a server of your own')
    const response = await server.raw(line, body, { 'x-forwarded-for': address })
    const answer = (await response.json()) as { success: boolean; message: string; data: Data }
    if (!answer.success) throw new Error(`${line}: ${answer.message}`)
    return answer.data
  }
}
