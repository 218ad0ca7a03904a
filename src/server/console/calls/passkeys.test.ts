import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Deviations, newAuthenticator } from '../../../../test/helpers/authenticator.ts'
import { password, type Signed, startConsole, type TestConsole } from '../../../../test/helpers/console.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import type { Caller } from '../../base/options/core.ts'

const root: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
const origin = 'https://console.example.com'
const site = 'console.example.com'

anyDatabase('passkeys', (_fresh, kind) => {
  let console: TestConsole
  let count = 0
  beforeAll(async () => {
    console = await startConsole(kind)
    await console.app.options.save({ key: 'ServerAddress', value: origin, caller: root })
  })
  afterAll(() => console.stop())

  interface Sent {
    readonly body?: unknown
    readonly as?: Signed | undefined
    readonly cookie?: string | undefined
  }
  /** Every call comes from its own address: client limits are tested elsewhere. */
  const raw = (line: string, { body, as, cookie }: Sent = {}) =>
    console.call(line, {
      ...(body === undefined ? {} : { body }),
      ...(as ? { as } : {}),
      ...(cookie === undefined ? {} : { headers: { cookie } }),
      from: `10.2.${Math.floor(++count / 200)}.${(count % 200) + 1}`,
    })
  const json = async (line: string, sent: Sent = {}) => (await raw(line, sent)).json()

  type Device = ReturnType<typeof newAuthenticator>
  async function add(as: Signed, device: Device = newAuthenticator({ origin, site }), deviations: Deviations = {}) {
    const { data: options } = await json('POST /api/user/passkey/options', { as })
    const body = { name: 'Laptop', answer: device.create(options, deviations) }
    return { device, options, answer: await json('POST /api/user/passkey', { body, as }) }
  }
  /** A login in its own browser. */
  async function begin() {
    const response = await raw('POST /api/user/login/passkey/options')
    return { cookie: String(response.headers['set-cookie']).split(';', 1)[0] ?? '', options: response.json().data }
  }
  async function logIn(device: Device, deviations: Deviations = {}) {
    const { cookie, options } = await begin()
    return raw('POST /api/user/login/passkey', { body: { answer: device.get(options, deviations) }, cookie })
  }

  it('are added after a fresh login, listed by name, and log in without password, name and code', async () => {
    const ada = await console.addUser('ada')
    const { device, options, answer } = await add(ada)
    expect(answer.data).toMatchObject({ name: 'Laptop', used_at: 0 })
    expect(options).toMatchObject({
      rp: { id: site, name: 'Sluice' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [],
    })
    // A passkey is both factors: no further step is required.
    await console.app.db.insertInto('two_factor').values({ user_id: ada.id, secret_sealed: 'x', confirmed_at: 1 }).execute()
    const response = await logIn(device)
    expect(response.json().data).toMatchObject({ username: 'ada' })
    expect(String(response.headers['set-cookie'])).toContain('__Host-session=')
    const { data } = await json('GET /api/user/security', { as: ada })
    expect(data.passkeys).toEqual([
      { id: answer.data.id, name: 'Laptop', created_at: expect.any(Number), used_at: expect.any(Number) },
    ])
    expect(data.passkeys[0].used_at).toBeGreaterThan(0)

    console.clock.passSeconds(601)
    expect((await json('POST /api/user/passkey/options', { as: ada })).code).toBe('fresh_login_required')
    expect((await json(`DELETE /api/user/passkey/${answer.data.id}`, { as: ada })).code).toBe('fresh_login_required')
  })

  it.each<[string, Deviations]>([
    ['of another origin', { origin: 'https://evil.test' }],
    ['of another site', { site: 'evil.test' }],
    ['of another challenge', { challenge: 'AAAA' }],
    ['without its owner having been seen', { verified: false }],
    ['of another ceremony', { type: 'webauthn.create' }],
    ['with a damaged signature', { damaged: true }],
    ['of a copied key', { counter: 0 }],
  ])('do not log in with a reply %s', async (what, deviations) => {
    const user = await console.addUser(`u${++count}`)
    const { device } = await add(user)
    expect([what, (await logIn(device, deviations)).json().code]).toEqual([what, 'passkey_refused'])
    expect((await logIn(device)).json().data.username).toBe(user.username)
  })

  it.each<[string, Deviations]>([
    ['of another origin', { origin: 'http://console.example.com' }],
    ['of another site', { site: 'example.com' }],
    ['without its owner having been seen', { verified: false }],
    ['with an attestation that nobody asked for', { format: 'fido-u2f' }],
  ])('are not added by a reply %s', async (_what, deviations) => {
    const user = await console.addUser(`v${++count}`)
    expect((await add(user, newAuthenticator({ origin, site }), deviations)).answer.code).toBe('passkey_refused')
  })

  it('accept each challenge once, in the browser that requested it, for five minutes, and refuse malformed replies', async () => {
    const eve = await console.addUser('eve')
    const { device } = await add(eve)
    const { cookie, options } = await begin()
    const answer = device.get(options)
    const refused = async (sent: Sent) => expect((await json('POST /api/user/login/passkey', sent)).code).toBe('passkey_refused')
    await refused({ body: { answer } })
    await refused({ body: { answer }, cookie: (await begin()).cookie })
    expect((await json('POST /api/user/login/passkey', { body: { answer }, cookie })).success).toBe(true)
    await refused({ body: { answer }, cookie })

    const late = await begin()
    console.clock.passSeconds(301)
    await refused({ body: { answer: device.get(late.options) }, cookie: late.cookie })
    for (const junk of [{}, { id: 7 }, { id: 'x', response: null }, { ...device.get(late.options), response: { a: 1 } }]) {
      await refused({ body: { answer: junk }, cookie: (await begin()).cookie })
    }
  })

  it('are limited to twenty, no matter how many are started in advance or added at the same time', async () => {
    const ada = await console.addUser('collector')
    const row = (key: number) => ({ user_id: ada.id, credential_id: `key-${key}`, public_key: 'x', name: 'x', created_at: 1 })
    const known = Array.from({ length: 19 }, (_, key) => row(key))
    await console.app.db.insertInto('passkeys').values(known).execute()
    const asked: { as: Signed; body: unknown }[] = []
    for (let browser = 0; browser < 3; browser++) {
      const token = await console.app.sessions.create({ userId: ada.id, address: '127.0.0.1', userAgent: 'test' })
      const as = { ...ada, headers: { ...ada.headers, cookie: `session=${token}` } }
      const { data: options } = await json('POST /api/user/passkey/options', { as })
      asked.push({ as, body: { name: 'Laptop', answer: newAuthenticator({ origin, site }).create(options) } })
    }
    const answers = await Promise.all(asked.map((sent) => json('POST /api/user/passkey', sent)))
    expect(answers.map(({ code = 'added' }) => code).sort()).toEqual(['added', 'passkeys_too_many', 'passkeys_too_many'])
    expect((await json('GET /api/user/security', { as: ada })).data.passkeys).toHaveLength(20)
    expect((await json('POST /api/user/passkey/options', { as: ada })).code).toBe('passkeys_too_many')
  })

  it('belong to one user: others cannot add, use, rename or remove them', async () => {
    const [ada, bob] = [await console.addUser('owner'), await console.addUser('other')]
    const { device, answer } = await add(ada)
    expect((await add(bob, device)).answer.code).toBe('passkey_known')
    const line = `/api/user/passkey/${answer.data.id}`
    expect((await json(`PUT ${line}`, { body: { name: 'Mine' }, as: bob })).code).toBe('not_found')
    expect((await json(`DELETE ${line}`, { as: bob })).code).toBe('not_found')
    const { data: options } = await json('POST /api/user/verify/passkey/options', { as: bob })
    expect(options.allowCredentials).toEqual([])
    const stolen = { answer: device.get(options) }
    expect((await json('POST /api/user/verify/passkey', { body: stolen, as: bob })).code).toBe('passkey_refused')
    expect((await json(`PUT ${line}`, { body: { name: 'Mine' }, as: ada })).data.name).toBe('Mine')
  })

  it('reauthenticate the user of a session, and only of that session', async () => {
    const ada = await console.addUser('proof')
    const { device, answer } = await add(ada)
    console.clock.passSeconds(601)
    const line = `DELETE /api/user/passkey/${answer.data.id}`
    expect((await json(line, { as: ada })).code).toBe('fresh_login_required')
    const { data: login } = await json('POST /api/user/login/passkey/options', { as: ada })
    const foreign = { answer: device.get(login) }
    expect((await json('POST /api/user/verify/passkey', { body: foreign, as: ada })).code).toBe('passkey_refused')
    const { data: options } = await json('POST /api/user/verify/passkey/options', { as: ada })
    expect((await json('POST /api/user/verify/passkey', { body: { answer: device.get(options) }, as: ada })).success).toBe(true)
    expect((await json(line, { as: ada })).success).toBe(true)
    expect((await logIn(device)).json().code).toBe('passkey_refused')
  })

  it('refuse banned and deleted users, and passkeys that an admin removed', async () => {
    const user = await console.addUser('gone')
    const admin = await console.addUser('boss', { role: 10 })
    const { device } = await add(user)
    const set = (values: { status?: number; deleted_at?: number | null }) =>
      console.app.db.updateTable('users').set(values).where('id', '=', user.id).execute()
    await set({ status: 2 })
    expect((await logIn(device)).json().code).toBe('passkey_refused')
    await set({ status: 1, deleted_at: 1 })
    expect((await logIn(device)).json().code).toBe('passkey_refused')
    await set({ deleted_at: null })
    await json('POST /api/user/manage', { body: { id: user.id, action: 'reset_factors' }, as: admin })
    expect((await logIn(device)).json().code).toBe('passkey_refused')
    expect((await json('POST /api/user/login', { body: { username: 'gone', password } })).success).toBe(true)
  })

  it('[T016] belong to the saved server address, regardless of the Host header, and need one that browsers accept', async () => {
    const ada = await console.addUser('site')
    const response = await console.call('POST /api/user/passkey/options', {
      as: ada,
      headers: { 'x-forwarded-host': 'evil.test', host: 'evil.test' },
    })
    expect(response.json().data.rp.id).toBe(site)
    for (const value of ['http://console.example.com', 'https://192.0.2.1', '']) {
      await console.app.options.save({ key: 'ServerAddress', value, caller: root })
      expect((await json('POST /api/user/login/passkey/options')).code).toBe('passkeys_unconfigured')
    }
    await console.app.options.save({ key: 'ServerAddress', value: origin, caller: root })
  })
})
