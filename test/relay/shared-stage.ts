import { afterAll, beforeAll } from 'vitest'
import { startServer, type TestServer } from '../helpers/app.ts'
import type { DatabaseKind } from '../helpers/databases.ts'
import { addChannel, addToken, books } from '../helpers/seed.ts'
import { ask, model, settledCharges, upstreamKey } from './stage.ts'

const groupsMax = 500

/**
 * One server for the tests of a file, or of a part of it, that set neither the clock nor options beside these of all. Each stage on it has its own
 * group, channel and token, and sees only its own charges.
 */
export function sharedStages(kind: DatabaseKind = 'sqlite', options: Readonly<Record<string, unknown>> = {}) {
  let server: TestServer
  let stages = 0

  beforeAll(async () => {
    server = await startServer(kind, { env: { TRUSTED_PROXIES: '127.0.0.1' } })
    const groups = ['default', ...Array.from({ length: groupsMax }, (_, index) => `stage-${index}`)]
    const ofEach = <Value>(value: Value) => JSON.stringify(Object.fromEntries(groups.map((group) => [group, value])))
    await server.call('PUT /api/option/', { key: 'GroupRatio', value: ofEach(1) })
    await server.call('PUT /api/option/', { key: 'UserUsableGroups', value: ofEach('one test') })
    for (const [key, value] of Object.entries(options))
      await server.call('PUT /api/option/', { key, value: JSON.stringify(value) })
  })
  afterAll(() => server.stop())

  return async function sharedStage(url: string, channel: Record<string, unknown> = {}) {
    const number = stages++
    const group = `stage-${number}`
    // The console limits how often one address calls it.
    const own: TestServer = { ...server, call: (line, body) => callFrom(`10.0.0.${number >> 4}`, line, body) }
    const channelId = await addChannel(own, { url, models: model, key: upstreamKey, group, ...channel })
    const token = await addToken(own, { group })
    return {
      server: own,
      /** Of its channel and token. */
      group,
      channelId,
      token,
      ask: (body: unknown, path?: string, headers?: Record<string, string>) => ask(server, token.key, body, path, headers),
      /** The log rows of its token. */
      async logs() {
        return (await books(server)).logs.filter((row) => row.token_id === token.id)
      },
      /** The amounts that were charged through its token, after everything has ended. */
      async charged(): Promise<number[]> {
        await settledCharges(server)
        const { ledger } = await books(server)
        return ledger.filter((row) => row.kind === 'charge' && row.token_id === token.id).map((row) => -row.amount)
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
