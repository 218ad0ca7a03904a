import { expect, it } from 'vitest'
import { defaults } from '../../../contract/options/defaults.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import { status } from '../../../contract/status.ts'
import { readStatus } from './site.ts'

/** The public status of a site with these settings. */
function statusWith(over: Partial<OptionValues>) {
  // The status reads nothing of the store but its snapshot.
  const options = { current: { ...defaults, ...over } } as Parameters<typeof readStatus>[0]['options']
  return readStatus({ version: '1.2.3', startedAt: 1_700_000_000, options })
}

it('fills every field of the declared status', () => {
  const answer = statusWith({})
  expect(status.parse(answer)).toEqual(answer)
  expect(answer).toMatchObject({
    version: '0.4.8.9.6',
    sluice_version: '1.2.3',
    start_time: 1_700_000_000,
    system_name: 'Sluice',
    quota_per_unit: 500_000,
    price: 7.3,
  })
})

it('offers online top-up only when address, merchant and key are all set', () => {
  const payment = { PayAddress: 'https://pay.example', EpayId: '1001', EpayKey: 'key' }
  expect(statusWith(payment).enable_online_topup).toBe(true)
  for (const missing of ['PayAddress', 'EpayId', 'EpayKey'] as const)
    expect(statusWith({ ...payment, [missing]: '' }).enable_online_topup).toBe(false)
})

it('exposes no secret', () => {
  const secrets = [
    'GitHubClientSecret',
    'LinuxDOClientSecret',
    'WeChatServerToken',
    'TelegramBotToken',
    'TurnstileSecretKey',
    'SMTPToken',
    'EpayKey',
    'WorkerValidKey',
  ]
  const answer = statusWith(Object.fromEntries(secrets.map((key) => [key, 'canary'])))
  expect(JSON.stringify(answer)).not.toContain('canary')
})
