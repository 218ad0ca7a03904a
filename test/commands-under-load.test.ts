import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { role } from '../src/contract/roles.ts'
import { openSecrets } from '../src/server/base/db/key-ring.ts'
import { keyPlace } from '../src/server/people/tokens/tokens.ts'
import { goodPassword } from './helpers/accounts.ts'
import { rootPassword, startServer, type TestServer } from './helpers/app.ts'
import { testMasterKey } from './helpers/core.ts'
import { eachDatabase } from './helpers/databases.ts'
import { type Answer, member } from './helpers/members.ts'
import { addChannel, requireBalancedBooks } from './helpers/seed.ts'
import { sluice } from './helpers/sluice.ts'
import { upstreamOfTest } from './helpers/upstream.ts'
import { ask, askWithRetry, chat, eventually, model, settledCharges } from './relay/stage.ts'

const masterKey = testMasterKey.toString('base64')

eachDatabase('commands while the server is under load', (fresh, kind) => {
  it('[T254] rotate-key runs to its end beside calls, logins and saves: none is refused, and every value opens with the new key alone', async () => {
    const { server, env, stop, load } = await loaded()
    const file = join(env.DATA_DIR, 'master.key')
    const before = load.start()
    await load.more()
    const rotated = await sluice(['rotate-key', '--yes', '--json'], env)
    expect([rotated.code, rotated.errors]).toEqual([0, ''])
    await load.more()
    expect(await before.stop()).toEqual({ call: [200], login: ['ok'], save: ['ok'], option: ['ok'] })

    const young = readFileSync(file, 'utf8').trim()
    expect([young === masterKey, readFileSync(JSON.parse(rotated.output).old_file, 'utf8').trim()]).toEqual([false, masterKey])
    const sealed = await sealedValues(server)
    expect(sealed.length).toBeGreaterThan(5)
    const { database } = server.app
    await expect(openSecrets(database, testMasterKey, 0)).rejects.toThrow('does not open the secrets of this database')
    const secrets = await openSecrets(database, Buffer.from(young, 'base64'), 0)
    for (const { place, text } of sealed)
      expect(secrets.open(text, place).length, `${place.table} ${place.row}`).toBeGreaterThan(0)
    await settledCharges(server)
    await requireBalancedBooks(server)
    await stop()

    const next = await startServer(kind, { database: server.database, env: { MASTER_KEY: young, ROOT_PASSWORD: rootPassword } })
    onTestFinished(() => next.stop())
    expect((await ask(next, load.key, chat())).status).toBe(200)
    expect(next.app.options.current.SMTPToken).toBe(server.app.options.current.SMTPToken)
    expect((await sluice(['verify', '--json'], env)).code).toBe(0)
  })

  it('[T254] root-password runs to its end beside calls, logins and saves: only the sessions of that account end', async () => {
    const { server, env, load } = await loaded()
    const before = load.start({ rootSaves: false })
    await load.more()
    const reset = await sluice(['root-password', '--yes', '--json'], env)
    const { username, password } = JSON.parse(reset.output)
    expect([reset.code, username]).toEqual([0, 'root'])
    await load.more()
    expect(await before.stop()).toEqual({ call: [200], login: ['ok'], save: ['ok'], option: [] })

    await expect.poll(async () => (await server.raw('GET /api/user/self')).status).toBe(401)
    const login = (given: string) => logIn(server, 'root', given, 250)
    expect([await login(rootPassword), await login(password)]).toEqual(['credentials_wrong', 'ok'])
    await settledCharges(server)
    await requireBalancedBooks(server)
  })

  /** A server whose master key is in its folder, with an admin, and the load on it. */
  async function loaded() {
    const database = await fresh()
    onTestFinished(() => database.drop())
    const folder = database.env.DATA_DIR || mkdtempSync(join(tmpdir(), 'sluice-'))
    writeFileSync(join(folder, 'master.key'), `${masterKey}\n`, { mode: 0o600 })
    const env = { ...database.env, DATA_DIR: folder }
    const server = await startServer(kind, {
      database,
      env: { DATA_DIR: folder, MASTER_KEY: '', ROOT_PASSWORD: rootPassword, TRUSTED_PROXIES: '127.0.0.1' },
    })
    let isStopped = false
    const stop = async () => {
      if (!isStopped) await server.stop()
      isStopped = true
    }
    onTestFinished(stop)
    const upstream = await upstreamOfTest()
    const channel = await addChannel(server, { url: upstream.url, models: model })
    const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'load', unlimited_quota: true })
    const admin = await member(server, 'admin', role.admin)
    return { server, env, stop, load: loadOn(server, { key: `sk-${key}`, channel, admin }) }
  }
})

interface Given {
  readonly key: string
  readonly channel: number
  readonly admin: Awaited<ReturnType<typeof member>>
}

/** Two callers, logins of a user, channel keys and tokens that an admin saves, options that root saves: one after the other each. */
function loadOn(server: TestServer, { key, channel, admin }: Given) {
  const counts = new Map<string, number>()
  const enough = { call: 10, login: 2, save: 3 }
  return {
    key,
    /** Waits until each kind has run again. */
    async more() {
      const before = new Map(counts)
      const ran = (kind: string, least: number) => (counts.get(kind) ?? 0) >= (before.get(kind) ?? 0) + least
      await eventually('every kind has run', () => Object.entries(enough).every(([kind, least]) => ran(kind, least)))
    },
    start({ rootSaves = true } = {}) {
      let isOver = false
      const statuses = {
        call: new Set<unknown>(),
        login: new Set<unknown>(),
        save: new Set<unknown>(),
        option: new Set<unknown>(),
      }
      const repeat = async (kind: keyof typeof statuses, one: (number: number) => Promise<unknown>) => {
        for (let number = 0; !isOver; number++) {
          statuses[kind].add(await one(number))
          counts.set(kind, (counts.get(kind) ?? 0) + 1)
        }
      }
      const save = (number: number) =>
        number % 2 === 0
          ? admin.call('PUT /api/channel/', { id: channel, key: `upstream-key-${number}` })
          : admin.call('POST /api/token/', { name: `token ${number}`, unlimited_quota: true })
      const option = (number: number) => server.raw('PUT /api/option/', { key: 'SMTPToken', value: `during ${number}` })
      const running = [
        ...[0, 1].map(() => repeat('call', async () => (await askWithRetry(server, key, chat())).status)),
        repeat('login', (number) => logIn(server, 'admin', goodPassword, number % 200)),
        repeat('save', async (number) => outcomeOf((await save(number)).json)),
        ...(rootSaves ? [repeat('option', async (number) => outcomeOf((await (await option(number)).json()) as Answer))] : []),
      ]
      return {
        async stop() {
          isOver = true
          await Promise.all(running)
          return Object.fromEntries(Object.entries(statuses).map(([kind, seen]) => [kind, [...seen]]))
        },
      }
    },
  }
}

/** Console calls answer a refusal with status 200 too. */
const outcomeOf = ({ success, code }: Pick<Answer, 'success' | 'code'>) => (success ? 'ok' : code)

/** The outcome of a login from an address of its own. */
async function logIn({ url }: TestServer, username: string, password: string, address: number) {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': `192.0.2.${address}` }
  const response = await fetch(`${url}/api/user/login`, { method: 'POST', headers, body: JSON.stringify({ username, password }) })
  return outcomeOf((await response.json()) as Answer)
}

/** The sealed values of channels, tokens and options, with the places that they are sealed for. */
async function sealedValues({ app: { db } }: TestServer) {
  const channels = await db.selectFrom('channel_keys').select(['channel_id', 'key_sealed']).execute()
  const tokens = await db.selectFrom('tokens').select(['id', 'key_sealed']).execute()
  const options = await db.selectFrom('options').select('value').where('key', '=', 'SMTPToken').execute()
  return [
    ...channels.map(({ channel_id, key_sealed: text }) => ({ text, place: channelPlace(channel_id) })),
    ...tokens.map(({ id, key_sealed: text }) => ({ text, place: keyPlace(id) })),
    ...options.map(({ value: text }) => ({ text, place: { table: 'options', column: 'value', row: 'SMTPToken' } })),
  ]
}

const channelPlace = (row: number) => ({ table: 'channels', column: 'key_sealed', row })
