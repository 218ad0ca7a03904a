import { randomBytes } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import { eachDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { testLogger } from '../../../../test/helpers/logger.ts'
import { optionTextLengthMax } from '../../../contract/options/codec.ts'
import { defaults } from '../../../contract/options/defaults.ts'
import type { OptionKey } from '../../../contract/options/index.ts'
import { Bus } from '../bus/bus.ts'
import { openSecrets } from '../db/key-ring.ts'
import { verifyAudit } from './audit.ts'
import type { Caller } from './core.ts'
import { derived } from './derived.ts'
import { presentOptions, presentSecrets } from './present.ts'
import { openOptions } from './store.ts'

const root: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '127.0.0.1' }
const admin: Caller = { ...root, id: 2, username: 'ada', role: 10 }
const masterKey = randomBytes(32)

eachDatabase('options', (fresh, kind) => {
  const cleanups: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  async function freshTest() {
    const test = await fresh()
    cleanups.push(() => test.drop())
    return test
  }

  /** One node: its own connections, bus and snapshot over the database of the test. */
  async function startNode(test: TestDatabase, basePath = '') {
    const database = await test.open()
    const logged: string[] = []
    const logger = testLogger('info', (text) => void logged.push(text))
    const bus = new Bus(logger)
    const secrets = await openSecrets(database, masterKey, 0)
    const parts = { env: { BASE_PATH: basePath }, database, db: database.db, secrets, bus, logger, now: () => 1_700_000_000_000 }
    const options = await openOptions(parts)
    cleanups.push(async () => {
      options.close()
      await database.close()
    })
    const save = (key: OptionKey, value?: string, caller = root) => options.save({ key, value, caller })
    const row = (key: string) => database.db.selectFrom('options').select('value').where('key', '=', key).executeTakeFirst()
    const put = (key: string, value: string) => database.db.insertInto('options').values({ key, value }).execute()
    const audit = () => database.db.selectFrom('audit').selectAll().orderBy('id').execute()
    return { ...parts, options, save, row, put, audit, logged }
  }

  it('starts with the defaults, frozen', async () => {
    const { options } = await startNode(await freshTest())
    expect(options.current).toEqual(defaults)
    expect(options.current.SystemName).toBe('Sluice')
    expect(Object.isFrozen(options.current)).toBe(true)
  })

  it('completes the addresses of this site with the base path, and stores them as they were entered', async () => {
    const { options, save, row } = await startNode(await freshTest(), '/sluice')
    expect(options.current.ServerAddress).toBe('')
    for (const [entered, completed] of [
      ['https://example.com', 'https://example.com/sluice'],
      ['https://example.com/sluice/', 'https://example.com/sluice'],
      ['https://example.com/mysluice', 'https://example.com/mysluice/sluice'],
    ] as const) {
      await save('ServerAddress', entered)
      expect(options.current.ServerAddress).toBe(completed)
      expect((await row('ServerAddress'))?.value).toBe(entered.replace(/\/$/, ''))
    }
    await save('CustomCallbackAddress', 'https://callback.example.com')
    expect(options.current.CustomCallbackAddress).toBe('https://callback.example.com/sluice')
    expect(Object.isFrozen(options.current)).toBe(true)
  })

  it('applies a saved value at once and after a restart', async () => {
    const test = await freshTest()
    const { options, save } = await startNode(test)
    await save('RetryTimes', '3')
    await save('DrawingEnabled', 'false')
    await save('GroupRatio', '{"default":1,"vip":0.7}')
    expect(options.current).toMatchObject({ RetryTimes: 3, DrawingEnabled: false })
    const restarted = await startNode(test)
    expect(restarted.options.current).toEqual(options.current)
  })

  it('rejects invalid values and keeps the old ones', async () => {
    const { options, save, row } = await startNode(await freshTest())
    await save('RetryTimes', '2')
    await expect(save('RetryTimes', 'many')).rejects.toMatchObject({ code: 'option_invalid' })
    await expect(save('RetryTimes', '-1')).rejects.toMatchObject({ code: 'option_invalid' })
    await expect(save('RetryTimes')).rejects.toMatchObject({ code: 'option_invalid' })
    await expect(save('TopupGroupRatio', '{')).rejects.toMatchObject({
      code: 'json_text_invalid',
      message: 'Top-up group ratio is not a valid JSON string',
    })
    await expect(save('GroupRatio', '{"vip":-1}')).rejects.toMatchObject({ code: 'option_invalid' })
    // A caller may send any key.
    await expect(save('__proto__' as OptionKey, '1')).rejects.toMatchObject({ code: 'option_unknown' })
    expect(options.current.RetryTimes).toBe(2)
    expect((await row('RetryTimes'))?.value).toBe('2')
    expect(await row('GroupRatio')).toBeUndefined()
  })

  it('accepts the value that an option already has, and writes nothing', async () => {
    const { save, row, audit } = await startNode(await freshTest())
    await save('RetryTimes', '0')
    await save('GroupRatio', '{ "default": 1, "vip": 1, "svip": 1 }')
    expect([await row('RetryTimes'), await row('GroupRatio'), await audit()]).toEqual([undefined, undefined, []])
    await save('ServerAddress', 'https://example.com/')
    await save('ServerAddress', 'https://example.com')
    expect(await audit()).toHaveLength(1)
  })

  it('lets admins change operational options, and only the super admin those that affect accounts or money', async () => {
    const { options, save } = await startNode(await freshTest())
    await save('RetryTimes', '1', admin)
    for (const key of ['ServerAddress', 'SMTPToken', 'QuotaPerUnit', 'Price', 'TopUpLink', 'PasswordLoginEnabled'] as const) {
      await expect(save(key, '', admin), key).rejects.toMatchObject({ code: 'option_forbidden' })
    }
    await save('QuotaPerUnit', '1000000')
    expect(options.current.QuotaPerUnit).toBe(1_000_000)
  })

  it('[T190] seals secrets, keeps them without a value and clears them with an empty one', async () => {
    const { options, save, row, audit } = await startNode(await freshTest())
    await save('SMTPToken', 'canary-secret')
    expect(options.current.SMTPToken).toBe('canary-secret')
    expect((await row('SMTPToken'))?.value).toMatch(/^v1\./)
    await save('SMTPToken', undefined)
    expect(options.current.SMTPToken).toBe('canary-secret')
    await save('SMTPToken', 'canary-secret')
    expect(await audit()).toHaveLength(1)

    expect(JSON.stringify(presentOptions(options.current))).not.toContain('canary')
    expect(presentOptions(options.current).some(({ key }) => key === 'SMTPToken')).toBe(false)
    expect(presentSecrets(options.current)).toMatchObject({ SMTPToken: true, EpayKey: false })

    await save('SMTPToken', '')
    expect(options.current.SMTPToken).toBe('')
    expect(await row('SMTPToken')).toBeUndefined()
    expect(presentSecrets(options.current).SMTPToken).toBe(false)
    expect(JSON.stringify(await audit())).not.toContain('canary')
  })

  it('refuses to enable a feature without its settings, and to remove these while it is enabled', async () => {
    const { save } = await startNode(await freshTest())
    const pairs = [
      ['GitHubOAuthEnabled', 'GitHubClientId', 'id'],
      ['LinuxDOOAuthEnabled', 'LinuxDOClientId', 'id'],
      ['WeChatAuthEnabled', 'WeChatServerAddress', 'https://wechat.example'],
      ['TelegramOAuthEnabled', 'TelegramBotToken', 'token'],
    ] as const
    for (const [option, needs, value] of pairs) {
      await expect(save(option, 'true'), option).rejects.toMatchObject({ code: 'option_needs' })
      await save(needs, value)
      await save(option, 'true')
      await expect(save(needs, ''), needs).rejects.toMatchObject({ code: 'option_needs' })
    }
    await save('TurnstileSiteKey', 'site')
    await expect(save('TurnstileCheckEnabled', 'true')).rejects.toMatchObject({ code: 'option_needs' })
    await save('TurnstileSecretKey', 'secret')
    await save('TurnstileCheckEnabled', 'true')

    await save('EmailDomainWhitelist', '')
    await expect(save('EmailDomainRestrictionEnabled', 'true')).rejects.toMatchObject({ code: 'option_needs' })
    const refusal = await save('PayAddress', 'https://pay.example').catch((error) => error)
    expect(refusal.text('en')).toBe('Fill in the server address first')
    expect(refusal.text('zh')).toBe('请先填写服务器地址')
  })

  it('refuses to remove a group in use until it is confirmed, if the caller wants that check', async () => {
    const { options, save, db, audit } = await startNode(await freshTest())
    await save('GroupRatio', '{"default":1,"vip":3,"svip":0.5,"empty":2}')
    const user = { display_name: '', password_hash: '', created_time: 0 }
    const token = { user_id: 1, key_sealed: '', name: '', created_time: 0, accessed_time: 0 }
    const users = [['ada', 'vip'] as const, ['bob', 'vip'] as const, ['gone', 'empty', 1] as const, ['eve', 'default'] as const]
    for (const [name, group, deleted_at = null] of users) {
      const named = { username: name, username_key: name, aff_code: name }
      await db
        .insertInto('users')
        .values({ ...user, ...named, group, deleted_at })
        .execute()
    }
    for (const [key_hash, group, deleted_at = null] of [['a', 'svip'] as const, ['b', ''] as const, ['c', 'empty', 1] as const])
      await db
        .insertInto('tokens')
        .values({ ...token, key_hash, group, deleted_at })
        .execute()
    for (const group of ['default,vip', 'svip', 'default'])
      await db.insertInto('channels').values({ type: 1, key_sealed: '', name: '', created_time: 0, group }).execute()

    await save('GroupRatio', '{"default":1,"vip":3,"svip":0.5}')
    const change = { key: 'GroupRatio', value: '{"default":1}', caller: root }
    const refusal = await options.save({ ...change, confirmed: false }).catch((error) => error)
    expect(refusal).toMatchObject({ code: 'groups_in_use' })
    expect(refusal.text('en')).toMatch(
      /^Still in use: vip \(users 2, tokens 0, channels 1\), svip \(users 0, tokens 1, channels 1\)\./,
    )
    expect(refusal.text('zh')).toMatch(/^仍在使用的分组：vip（用户 2、令牌 0、渠道 1）、svip（用户 0、令牌 1、渠道 1）。/)
    expect(options.current.GroupRatio).toEqual({ default: 1, vip: 3, svip: 0.5 })
    expect(await audit()).toHaveLength(2)
    await options.save({ ...change, confirmed: true })
    expect(options.current.GroupRatio).toEqual({ default: 1 })
    // Scripts are not asked to confirm.
    await save('GroupRatio', '{"default":1,"vip":3}')
    await save('GroupRatio', '{"default":1}')
    expect(options.current.GroupRatio).toEqual({ default: 1 })
  })

  it('[T082] uses valid values when the table has corrupt, unknown and oversized rows, and logs each as an error', async () => {
    const test = await freshTest()
    const first = await startNode(test)
    await first.save('RetryTimes', '4')
    await first.db.updateTable('options').set({ value: 'four' }).where('key', '=', 'RetryTimes').execute()
    await first.put('GroupRatio', '{"default":-1}')
    await first.put('ModelRatio', `{"a":${'1'.repeat(optionTextLengthMax)}}`)
    await first.put('SMTPToken', 'v1.0.plain-canary.x.y')
    await first.put('NoSuchOption', 'canary')
    await first.put('TurnstileCheckEnabled', 'true')

    await first.options.refresh()
    expect(first.options.current).toEqual({ ...defaults, RetryTimes: 4 })
    const { options, logged, save } = await startNode(test)
    expect(options.current).toEqual(defaults)
    for (const key of ['RetryTimes', 'GroupRatio', 'ModelRatio', 'SMTPToken', 'NoSuchOption', 'TurnstileCheckEnabled']) {
      expect(
        logged.some((text) => text.includes(`"option":"${key}"`) && text.includes('"level":50')),
        key,
      ).toBe(true)
    }
    expect(logged.join()).not.toContain('canary')

    await save('RetryTimes', '0')
    await save('NoSuchOption' as OptionKey, '1').catch(() => {})
    expect((await first.row('RetryTimes'))?.value).toBe('0')
  })

  it('[T191] propagates a change to the other nodes; of two writers the last wins, and both are in the audit log', async () => {
    const test = await freshTest()
    const one = await startNode(test)
    const two = kind === 'postgres' ? await startNode(test) : one
    await Promise.all([one.save('Notice', 'from one'), two.save('Notice', 'from two')])
    one.bus.deliver('options', 0)
    two.bus.deliver('options', 0)
    await Promise.all([one.options.refresh(), two.options.refresh()])
    expect(one.options.current.Notice).toBe(two.options.current.Notice)

    const rows = await one.audit()
    expect(rows).toHaveLength(2)
    expect(rows.at(-1)?.after).toBe(one.options.current.Notice)
    expect(rows.at(-1)?.before).toBe(rows.at(0)?.after)
    expect(rows[0]).toMatchObject({ actor_name: 'root', action: 'option.save', target: 'option:Notice', before: '' })
    expect(await verifyAudit(one)).toMatchObject({ rows: 2 })
  })

  it('restores a default, any number of times', async () => {
    const { options, save, audit } = await startNode(await freshTest())
    await save('ModelRatio', '{"gpt-4o":9}')
    expect(options.current.ModelRatio).toEqual({ 'gpt-4o': 9 })
    await options.reset('ModelRatio', admin)
    await options.reset('ModelRatio', admin)
    expect(options.current.ModelRatio).toEqual(defaults.ModelRatio)
    expect(await audit()).toHaveLength(2)
  })

  it('recomputes derived values only after a change', async () => {
    const { options, save } = await startNode(await freshTest())
    let computed = 0
    const doubled = derived(options, ({ RetryTimes }) => {
      computed++
      return RetryTimes * 2
    })
    expect([doubled(), doubled(), computed]).toEqual([0, 0, 1])
    await save('RetryTimes', '4')
    expect([doubled(), doubled()]).toEqual([8, 8])
  })
})
