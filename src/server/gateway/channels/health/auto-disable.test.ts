import { beforeAll, beforeEach, expect, it } from 'vitest'
import { newClock } from '../../../../../test/helpers/clock.ts'
import { freshCore } from '../../../../../test/helpers/core.ts'
import { anyDatabase } from '../../../../../test/helpers/databases.ts'
import { emptyAccounts, limitedAccounts, type VendorError } from '../../../../../test/helpers/empty-accounts.ts'
import { channelInput } from '../../../../contract/entities/channel.ts'
import type { OptionValues } from '../../../../contract/options/index.ts'
import { verifyAudit } from '../../../base/options/audit.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { readOpenAiError } from '../../protocols/openai-chat/errors.ts'
import { addChannels, editChannel } from '../edit/channels.ts'
import { anyChannel, findChannels } from '../edit/find-channels.ts'
import { openChannel, type RunningChannel } from '../index/model-index.ts'
import { findRow } from '../row/rows.ts'
import { type ChannelFailure, reportFailure, reportTest } from './auto-disable.ts'

const caller: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
const nowSeconds = 1_800_000_000
const clock = newClock(nowSeconds * 1000)
const refusedKey: ChannelFailure = { status: 401, code: '', type: '', message: 'Incorrect API key provided' }

anyDatabase('the health of channels', (fresh) => {
  let core: Core
  let published: number[] = []

  beforeAll(async () => {
    const opened = await freshCore(fresh, { now: () => clock.nowMs })
    core = opened.core
    core.bus.on('channels', (id) => void published.push(id))
    return opened.close
  })
  beforeEach(async () => {
    await core.db.deleteFrom('channels').execute()
    await core.db.deleteFrom('logs').execute()
  })

  const withOptions = (more: Partial<OptionValues> = {}): Core => {
    const current = { ...core.options.current, AutomaticDisableChannelEnabled: true, ...more }
    return { ...core, options: { ...core.options, current } }
  }
  const make = async (given: object = {}): Promise<RunningChannel> => {
    const input = channelInput.parse({ type: 1, name: 'one', key: 'secret-key-123', models: 'm', ...given })
    const [id = 0] = await addChannels(core, { caller, input })
    published = []
    return firstKeyOf(id)
  }
  const firstKeyOf = async (id: number): Promise<RunningChannel> => {
    const [channel] = (await openChannel(core, id)).keys
    if (!channel) throw new Error('It has no key')
    return channel
  }
  const statusOf = async ({ id }: RunningChannel) => (await findRow(core.db, id)).status

  it.each<[string, Partial<ChannelFailure>]>([
    ['status 401', { status: 401 }],
    ['a refused key', { status: 400, code: 'invalid_api_key' }],
    ['a closed account', { status: 403, code: 'account_deactivated' }],
    ['an unpaid account', { status: 429, code: 'billing_not_active' }],
    ['no balance', { status: 429, type: 'insufficient_quota' }],
    ['no permission', { status: 403, type: 'permission_error' }],
    ['a keyword in any case', { status: 400, message: 'yOUR CREDIT BALANCE is too low to go on' }],
  ])('disables on %s', async (_what, failure) => {
    const channel = await make()
    expect(await reportFailure(withOptions(), channel, { status: 0, code: '', type: '', message: '', ...failure })).toBe(true)
    expect([await statusOf(channel), published]).toEqual([3, [channel.id]])
  })

  const reported = ({ status, body }: VendorError): ChannelFailure => {
    const { message, code, type, status: own } = readOpenAiError(body)
    return { status: own || status, message, code, type }
  }

  it.each([1, 14, 43])('[293] disables on an empty account of every vendor, behind type %i', async (type) => {
    for (const error of emptyAccounts) {
      const channel = await make({ type })
      expect([error.vendor, await reportFailure(withOptions(), channel, reported(error))]).toEqual([error.vendor, true])
    }
  })

  it('continues after a refusal of one model, or of a request that is too large for the account', async () => {
    for (const error of limitedAccounts) {
      const channel = await make()
      expect([error.vendor, await reportFailure(withOptions(), channel, reported(error))]).toEqual([error.vendor, false])
    }
  })

  it.each<[string, Partial<ChannelFailure>]>([
    ['no answer', { status: 0 }],
    ['a server error', { status: 500, message: 'Internal error' }],
    ['a rate limit', { status: 429, type: 'rate_limit_exceeded' }],
    ['a refusal that is not about the key', { status: 403, message: 'blocked' }],
    ['a bad request', { status: 400, type: 'invalid_request_error' }],
  ])('continues after %s', async (_what, failure) => {
    const channel = await make()
    expect(await reportFailure(withOptions(), channel, { status: 0, code: '', type: '', message: '', ...failure })).toBe(false)
    expect(await statusOf(channel)).toBe(1)
  })

  it('counts 403 as a refused key only where the vendor means that', async () => {
    const gemini = await make({ type: 24 })
    expect(await reportFailure(withOptions(), gemini, { ...refusedKey, status: 403 })).toBe(true)
  })

  it('[255] counts API_KEY_INVALID under status 400 as a refused key where the vendor means that', async () => {
    const refused = { status: 400, code: 'API_KEY_INVALID', type: '', message: 'API key not valid' }
    expect(await reportFailure(withOptions(), await make({ type: 24 }), refused)).toBe(true)
    expect(await reportFailure(withOptions(), await make({ type: 24 }), { ...refused, code: 'INVALID_ARGUMENT' })).toBe(false)
    expect(await reportFailure(withOptions(), await make(), refused)).toBe(false)
  })

  it('follows the option, its keywords, and the setting of the channel', async () => {
    const channel = await make()
    expect(await reportFailure(withOptions({ AutomaticDisableChannelEnabled: false }), channel, refusedKey)).toBe(false)
    expect(await reportFailure(withOptions(), await make({ auto_ban: 0 }), refusedKey)).toBe(false)
    const own = withOptions({ AutomaticDisableKeywords: 'gone fishing\nno luck' })
    expect(await reportFailure(own, channel, { ...refusedKey, status: 500, message: 'We are Gone Fishing' })).toBe(true)
  })

  it('writes down why and when, for the console, the system log and the audit, without the key', async () => {
    const channel = await make()
    await reportFailure(withOptions(), channel, { ...refusedKey, message: 'Incorrect API key provided: secret-key-123' })
    const { other_info } = await findRow(core.db, channel.id)
    expect(JSON.parse(other_info)).toEqual({
      status_reason: 'status 401: Incorrect API key provided: …',
      status_time: nowSeconds,
    })
    const logs = await core.db.selectFrom('logs').selectAll().execute()
    expect(logs).toMatchObject([{ type: 4, created_at: nowSeconds }])
    const audit = await core.db.selectFrom('audit').selectAll().orderBy('id', 'desc').limit(1).execute()
    expect(audit).toMatchObject([{ actor_name: 'system', action: 'channel.auto-disable', target: `channel:${channel.id}` }])
    expect(JSON.stringify([logs, audit])).not.toContain('secret-key')
  })

  it('stores every error text of an upstream', async () => {
    const channel = await make()
    const message = `\0 \ud800 ${'😀'.repeat(400)}`
    expect(await reportFailure(withOptions(), channel, { ...refusedKey, message })).toBe(true)
    expect((await verifyAudit(core)).brokenAt).toBeUndefined()
  })

  it('changes the status once, no matter how many failures occur at the same time', async () => {
    const channel = await make()
    const parts = withOptions()
    const answers = await Promise.all(Array.from({ length: 1000 }, () => reportFailure(parts, channel, refusedKey)))
    expect(answers.filter(Boolean)).toHaveLength(1)
    expect(published).toEqual([channel.id])
    expect(await core.db.selectFrom('logs').selectAll().execute()).toHaveLength(1)
  })

  it('does not change a channel that was disabled manually, or whose key was replaced since', async () => {
    const channel = await make()
    await editChannel(core, { caller, patch: { id: channel.id, key: 'new-key' } })
    expect(await reportFailure(withOptions(), channel, refusedKey)).toBe(false)
    await editChannel(core, { caller, patch: { id: channel.id, status: 2 } })
    expect(await reportFailure(withOptions(), await firstKeyOf(channel.id), refusedKey)).toBe(false)
    expect(await statusOf(channel)).toBe(2)
  })

  it('stores the result of the last test without publishing it', async () => {
    const channel = await make()
    await reportTest(core, channel.id, { ms: 1234.6 })
    expect(await findRow(core.db, channel.id)).toMatchObject({ response_time: 1235, test_time: nowSeconds, test_failure: '' })
    await reportTest(core, channel.id, { ms: 9, failure: { status: 404, reason: 'no such model' } })
    expect(await findRow(core.db, channel.id)).toMatchObject({ test_failure: '404 no such model' })
    const failed = () =>
      findChannels(core, {
        filter: { ...anyChannel, test_failed: true },
        idSort: false,
        tagMode: false,
        page: { offset: 0, limit: 10 },
      })
    expect((await failed()).items.map(({ id }) => id)).toEqual([channel.id])
    await reportTest(core, channel.id, { ms: 9 })
    expect((await failed()).total).toBe(0)
    expect(published).toEqual([])
  })
})
