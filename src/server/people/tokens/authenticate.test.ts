import { beforeAll, beforeEach, expect, it } from 'vitest'
import { newClock } from '../../../../test/helpers/clock.ts'
import { freshCore } from '../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { tokenInput } from '../../../contract/entities/token.ts'
import type { ErrorCode } from '../../../contract/errors.ts'
import type { Core } from '../../base/options/core.ts'
import { type Authenticator, openAuthenticator } from './authenticate.ts'
import { changeTokens, createToken, deleteToken, editToken, setTokenStatus } from './tokens.ts'

const nowSeconds = 1_800_000_000
const clock = newClock(nowSeconds * 1000)
const here = '203.0.113.5'
const everyGroup = () => true

eachDatabase('authenticate', (fresh, kind) => {
  let core: Core
  let authenticator: Authenticator
  let users = 0

  beforeAll(async () => {
    const opened = await freshCore(fresh, { now: () => clock.nowMs })
    core = opened.core
    return opened.close
  })
  beforeEach(() => {
    clock.nowMs = nowSeconds * 1000
    authenticator = openAuthenticator(core)
    return () => authenticator.close()
  })

  async function aUser(values: object = {}): Promise<number> {
    const name = `user${++users}`
    const row = {
      username: name,
      username_key: name,
      display_name: name,
      password_hash: '',
      aff_code: name,
      created_time: nowSeconds,
    }
    const { id } = await core.db
      .insertInto('users')
      .values({ ...row, ...values })
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  }
  const aToken = async (given: object = {}, userId?: number) => {
    const input = tokenInput.parse({ name: 'key', remain_quota: 1000, ...given })
    return createToken(core, { userId: userId ?? (await aUser()), input, mayUse: everyGroup })
  }
  const setToken = (id: number, values: object) => core.db.updateTable('tokens').set(values).where('id', '=', id).execute()
  const setUser = (id: number, values: object) => core.db.updateTable('users').set(values).where('id', '=', id).execute()
  const authenticate = async (candidates: string | string[], address = here) =>
    authenticator.authenticate([candidates].flat(), address)
  const refusal = (candidates: string | string[], address = here): Promise<ErrorCode | 'accepted'> =>
    authenticate(candidates, address).then(
      () => 'accepted' as const,
      (error: { code: ErrorCode }) => error.code,
    )

  it('identifies the caller', async () => {
    const userId = await aUser({ role: 10, group: 'vip', setting: '{"accept_unset_model_ratio_model":true}' })
    const token = await aToken({ name: 'mine', group: 'auto', expired_time: nowSeconds + 60 }, userId)
    expect(await authenticate(token.key)).toEqual({
      userId,
      username: expect.stringMatching(/^user\d+$/),
      role: 10,
      userGroup: 'vip',
      acceptsUnpriced: true,
      tokenId: token.id,
      tokenName: 'mine',
      tokenGroup: 'auto',
      modelLimits: null,
      allowedAddresses: null,
      expiresAt: nowSeconds + 60,
      limits: null,
      isStrict: false,
      refusesHostedTools: false,
      resumesStreams: false,
      hadBalance: false,
      pinnedChannel: 0,
    })
  })

  it('returns the limits of the token itself, or null when it has none', async () => {
    const limited = await aToken({ limit_seconds: 10, limit_concurrency: 2 })
    expect(await authenticate(limited.key)).toMatchObject({
      limits: { seconds: 10, requests: 0, tokens: 0, concurrency: 2 },
    })
    expect(await authenticate((await aToken({ limit_seconds: 10 })).key)).toMatchObject({ limits: null })
  })

  it('returns without a promise once the token is cached', async () => {
    const { key, id } = await aToken()
    const first = authenticator.authenticate([key], here)
    expect(first).toBeInstanceOf(Promise)
    await first
    expect(authenticator.authenticate([key], here)).toMatchObject({ tokenId: id })
  })

  it('reads keys as clients send them', async () => {
    const { key } = await aToken()
    for (const sent of [key, `sk-${key}`, `Bearer sk-${key}`, `bearer   ${key}`, `BEARER sk-${key}`, `  Bearer\tsk-${key}  `])
      expect(await refusal(sent), sent).toBe('accepted')
  })

  it('refuses malformed keys', async () => {
    const { key } = await aToken()
    const wrong = [
      `${key.slice(0, 47)}?`,
      key.slice(0, 47),
      `${key}x`,
      key.toLowerCase() === key ? key.toUpperCase() : key.toLowerCase(),
      `Bearer Bearer ${key}`,
      `sk-sk-${key}`,
      "' OR '1'='1",
      '\0',
      'x'.repeat(100_000),
      '%',
      'sk-',
      '-',
      '__proto__',
      `Basic ${key}`,
    ]
    for (const sent of wrong) expect(await refusal(sent), sent.slice(0, 60)).toBe('token_invalid')
  })

  it('distinguishes a missing key from a wrong one', async () => {
    for (const nothing of [[], [''], ['  ', 'Bearer', 'Bearer  ']]) expect(await refusal(nothing)).toBe('token_missing')
    expect(await refusal(['', 'unknown'])).toBe('token_invalid')
  })

  it('skips placeholders and empty candidates before a valid key', async () => {
    const { key } = await aToken()
    expect(await refusal(['', 'Bearer ', 'midjourney-proxy', 'not a key', 'placeholder', `sk-${key}`])).toBe('accepted')
    expect(await refusal(['placeholder', 'placeholder', 'sk-placeholder', 'other', key])).toBe('accepted')
  })

  it('looks up three different keys at most', async () => {
    const { key } = await aToken()
    expect(await refusal(['one', 'two', key])).toBe('accepted')
    expect(await refusal(['one', 'two', 'three', key])).toBe('token_invalid')
  })

  it('lets the first known key decide', async () => {
    const [first, second] = [await aToken(), await aToken()]
    expect(await authenticate([first.key, second.key])).toMatchObject({ tokenId: first.id })
    await setTokenStatus(core, { userId: first.user_id, id: first.id, status: 2 })
    expect(await refusal([first.key, second.key])).toBe('token_disabled')
    expect(await authenticate([second.key, first.key])).toMatchObject({ tokenId: second.id })
  })

  it('refuses tokens by their stored state', async () => {
    const cases: [object, ErrorCode | 'accepted'][] = [
      [{ status: 2 }, 'token_disabled'],
      [{ status: 3 }, 'token_expired'],
      [{ status: 4 }, 'token_exhausted'],
      [{ status: 0 }, 'token_disabled'],
      [{ status: 99 }, 'token_disabled'],
      [{ expired_time: nowSeconds - 1 }, 'token_expired'],
      [{ expired_time: 0 }, 'token_expired'],
      [{ expired_time: nowSeconds }, 'accepted'],
      [{ remain_quota: 0 }, 'token_exhausted'],
      [{ remain_quota: -1 }, 'token_exhausted'],
      [{ remain_quota: 0, unlimited_quota: 1 }, 'accepted'],
      [{ remain_quota: 1, held: 1 }, 'accepted'],
      [{ deleted_at: nowSeconds }, 'token_invalid'],
    ]
    for (const [values, expected] of cases) {
      const { key, id } = await aToken()
      await setToken(id, values)
      expect(await refusal(key), JSON.stringify(values)).toBe(expected)
    }
  })

  it('refuses tokens of banned, locked or deleted users', async () => {
    for (const [values, expected] of [
      [{ status: 2 }, 'user_banned'],
      [{ status: 3 }, 'user_banned'],
      [{ deleted_at: nowSeconds }, 'token_invalid'],
    ] as const)
      expect(await refusal((await aToken({}, await aUser(values))).key)).toBe(expected)
  })

  it('expires a cached token in the second after its expiry', async () => {
    const { key } = await aToken({ expired_time: nowSeconds + 30 })
    expect(await refusal(key)).toBe('accepted')
    clock.nowMs += 30_999
    expect(await refusal(key)).toBe('accepted')
    clock.nowMs += 1
    expect(await refusal(key)).toBe('token_expired')
  })

  it('[T057] allows channel pins only to admins', async () => {
    const ordinary = await aToken()
    const admin = await aToken({}, await aUser({ role: 10 }))
    const root = await aToken({}, await aUser({ role: 100 }))
    expect(await refusal(`sk-${ordinary.key}-12`)).toBe('channel_pin_forbidden')
    expect(await authenticate(`sk-${admin.key}-12`)).toMatchObject({ tokenId: admin.id, pinnedChannel: 12 })
    expect(await authenticate(`${root.key}-7`)).toMatchObject({ pinnedChannel: 7 })
    expect(await authenticate(admin.key)).toMatchObject({ pinnedChannel: 0 })
    expect(await refusal([`${ordinary.key}-12`, ordinary.key])).toBe('channel_pin_forbidden')
  })

  it('[T057] refuses malformed pins, of admins too', async () => {
    const { key } = await aToken({}, await aUser({ role: 100 }))
    for (const pin of ['-', '--1', '-0x1', '-12-13', '-abc', '-0', '-012', '- 1', '-1.5', '-99999999999999999999'])
      expect(await refusal(`${key}${pin}`), pin).toBe('token_invalid')
  })

  it('[T059] accepts only listed addresses', async () => {
    const { key } = await aToken({ allow_ips: '203.0.113.5\n10.0.0.0/8\n2001:db8::/32\n::1' })
    const allowed = [
      '203.0.113.5',
      '::ffff:203.0.113.5',
      '10.255.255.255',
      '::FFFF:10.1.2.3',
      '::ffff:a01:203',
      '2001:db8::42',
      '2001:0DB8:0:0::1',
      '::1',
    ]
    const refused = [
      '203.0.113.6',
      '11.0.0.0',
      '2001:db9::1',
      '::2',
      '127.0.0.1',
      '',
      'localhost',
      '203.0.113.5, 10.0.0.1',
      '203.0.113.50',
    ]
    for (const address of allowed) expect(await refusal(key, address), address).toBe('accepted')
    for (const address of refused) expect(await refusal(key, address), address).toBe('token_address_forbidden')
  })

  it('[T059] accepts IPv4-mapped IPv6 addresses in the list', async () => {
    const { key } = await aToken({ allow_ips: '::ffff:192.0.2.7' })
    expect(await refusal(key, '192.0.2.7')).toBe('accepted')
    expect(await refusal(key, '::ffff:192.0.2.7')).toBe('accepted')
    expect(await refusal(key, '192.0.2.8')).toBe('token_address_forbidden')
  })

  it('refuses callers when the stored list cannot be parsed', async () => {
    const { key, id } = await aToken()
    await setToken(id, { allow_ips: 'garbage\n203.0.113.5' })
    expect(await refusal(key)).toBe('token_address_forbidden')
  })

  it('treats a stored list of blanks as no list', async () => {
    const { key, id } = await aToken()
    await setToken(id, { allow_ips: ' \n ' })
    expect(await refusal(key)).toBe('accepted')
  })

  it('returns the models that a token is limited to', async () => {
    const limited = await aToken({ model_limits_enabled: true, model_limits: 'a, b' })
    expect((await authenticate(limited.key)).modelLimits).toEqual(new Set(['a', 'b']))
    await setToken(limited.id, { model_limits: '' })
    core.bus.publish('token', limited.id)
    expect((await authenticate(limited.key)).modelLimits).toEqual(new Set())
  })

  it('ignores unreadable settings of users', async () => {
    for (const setting of ['', '{', 'null', '[]', '{"accept_unset_model_ratio_model":"yes"}'])
      expect((await authenticate((await aToken({}, await aUser({ setting }))).key)).acceptsUnpriced).toBe(false)
  })

  it('follows every change of a token at once', async () => {
    const { key, id, user_id: userId } = await aToken()
    const owned = { userId, id }
    const edit = (given: object) =>
      editToken(core, {
        ...owned,
        input: tokenInput.parse({ name: 'key', remain_quota: 10, ...given }),
        status: undefined,
        mayUse: everyGroup,
      })
    expect(await refusal(key)).toBe('accepted')
    await setTokenStatus(core, { ...owned, status: 2 })
    expect(await refusal(key)).toBe('token_disabled')
    await setTokenStatus(core, { ...owned, status: 1 })
    expect(await refusal(key)).toBe('accepted')
    await edit({ expired_time: nowSeconds - 1 })
    expect(await refusal(key)).toBe('token_expired')
    await edit({ remain_quota: 0 })
    expect(await refusal(key)).toBe('token_exhausted')
    await edit({ allow_ips: '192.0.2.1' })
    expect(await refusal(key)).toBe('token_address_forbidden')
    await edit({ model_limits_enabled: true, model_limits: 'only', group: 'vip' })
    expect(await authenticate(key)).toMatchObject({ modelLimits: new Set(['only']), tokenGroup: 'vip' })
    await changeTokens(core, { userId, ids: [id], action: 'disable' })
    expect(await refusal(key)).toBe('token_disabled')
    await changeTokens(core, { userId, ids: [id], action: 'enable' })
    expect(await refusal(key)).toBe('accepted')
    await deleteToken(core, owned)
    expect(await refusal(key)).toBe('token_invalid')
  })

  it('[T035] follows a ban, a new role, a new group and a deletion of the user at once', async () => {
    const userId = await aUser({ role: 10 })
    const keys = [(await aToken({}, userId)).key, (await aToken({}, userId)).key]
    const change = async (values: object) => {
      await setUser(userId, values)
      core.bus.publish('user', userId)
    }
    for (const key of keys) expect(await refusal(`${key}-3`)).toBe('accepted')
    await change({ role: 1, group: 'vip' })
    for (const key of keys) expect(await refusal(`${key}-3`)).toBe('channel_pin_forbidden')
    expect(await authenticate(keys)).toMatchObject({ userGroup: 'vip' })
    await change({ status: 2 })
    for (const key of keys) expect(await refusal(key)).toBe('user_banned')
    await change({ status: 1 })
    for (const key of keys) expect(await refusal(key)).toBe('accepted')
    await change({ deleted_at: nowSeconds })
    for (const key of keys) expect(await refusal(key)).toBe('token_invalid')
  })

  it('clears its cache on a notification without a row', async () => {
    for (const topic of ['token', 'user'] as const) {
      const { key, id } = await aToken()
      expect(await refusal(key)).toBe('accepted')
      await setToken(id, { status: 2 })
      expect(await refusal(key)).toBe('accepted')
      core.bus.publish(topic)
      expect(await refusal(key)).toBe('token_disabled')
    }
  })

  it('notices a change within a minute if its message was lost', async () => {
    const { key, id } = await aToken()
    await authenticate(key)
    await setToken(id, { status: 2 })
    clock.nowMs += 60_000
    expect(await refusal(key)).toBe('token_disabled')
  })

  it('[T027] never reports a wrong key when the database fails', async () => {
    const known = await aToken()
    await authenticate(known.key)
    const broken: Core = { ...core, db: core.db.withSchema('missing') }
    const other = openAuthenticator(broken)
    for (const key of [known.key, 'unknown'])
      await expect(other.authenticate([key], here)).rejects.toMatchObject({ code: 'database_unavailable', kind: { status: 503 } })
    await other.close()
    expect(await refusal(known.key)).toBe('accepted')
  })

  it('stores the time of the last use, at most once a minute', async () => {
    const { key, id } = await aToken()
    const accessed = async () => {
      await authenticator.close()
      authenticator = openAuthenticator(core)
      return (await core.db.selectFrom('tokens').select('accessed_time').where('id', '=', id).executeTakeFirstOrThrow())
        .accessed_time
    }
    clock.nowMs += 59_000
    await authenticate(key)
    expect(await accessed()).toBe(nowSeconds)
    clock.nowMs += 1_000
    await authenticate(key)
    expect(await accessed()).toBe(nowSeconds + 60)
  })

  it('does not touch the time of a refused key', async () => {
    const { key, id } = await aToken({ allow_ips: '192.0.2.1' })
    clock.nowMs += 3_600_000
    expect(await refusal(key)).toBe('token_address_forbidden')
    await authenticator.close()
    expect(await core.db.selectFrom('tokens').select('accessed_time').where('id', '=', id).executeTakeFirstOrThrow()).toEqual({
      accessed_time: nowSeconds,
    })
  })

  it.runIf(kind === 'postgres')('does not wait for rows locked by a commit when it writes access times', async () => {
    const [held, free] = [await aToken(), await aToken()]
    clock.nowMs += 120_000
    await authenticate(held.key)
    await authenticate(free.key)
    await core.db.transaction().execute(async (trx) => {
      await trx.updateTable('tokens').set({ used_quota: 1 }).where('id', '=', held.id).execute()
      await authenticator.close()
    })
    const times = await core.db
      .selectFrom('tokens')
      .select('accessed_time')
      .where('id', 'in', [held.id, free.id])
      .orderBy('id')
      .execute()
    expect(times.map(({ accessed_time }) => accessed_time)).toEqual([nowSeconds, nowSeconds + 120])
  })
})
