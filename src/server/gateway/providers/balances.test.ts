import { describe, expect, it } from 'vitest'
import { providerById, providers } from './index.ts'
import type { BalanceStep, Upstream } from './provider.ts'

const nowMs = Date.UTC(2026, 6, 20)
const upstream = (type: number, baseUrl = providerById(type)?.baseUrl ?? ''): Upstream => ({
  id: 1,
  type,
  key: 'k',
  baseUrl,
  organization: '',
  other: '',
  setting: {},
})

/** Answers each request from the list; returns the requested addresses and the result. */
function run(type: number, answers: readonly unknown[], baseUrl?: string) {
  const channel = upstream(type, baseUrl)
  const replies: unknown[] = []
  const asked: string[] = []
  for (;;) {
    const step: BalanceStep | undefined = providerById(type)?.balance?.(channel, replies, nowMs)
    if (!step || !('ask' in step)) return { asked, step }
    asked.push(step.ask.url)
    replies.push(answers[replies.length] ?? {})
  }
}

describe('the balance of an account', () => {
  it("of OpenAI is its limit minus this month's usage, or the usage of a hundred days without a payment method", () => {
    const paying = run(1, [{ hard_limit_usd: 120, has_payment_method: true }, { total_usage: 1234.5 }])
    expect(paying).toEqual({
      asked: [
        'https://api.openai.com/v1/dashboard/billing/subscription',
        'https://api.openai.com/v1/dashboard/billing/usage?start_date=2026-07-01&end_date=2026-07-20',
      ],
      step: { amount: 107.655, currency: 'USD' },
    })
    expect(run(1, [{ hard_limit_usd: 5 }, { total_usage: 0 }], 'https://own.example/v1').asked).toEqual([
      'https://own.example/v1/dashboard/billing/subscription',
      'https://own.example/v1/dashboard/billing/usage?start_date=2026-04-11&end_date=2026-07-20',
    ])
    expect(run(8, [{ hard_limit_usd: 5 }, { total_usage: 100 }], 'https://own.example/x/{model}/y').asked[0]).toBe(
      'https://own.example/v1/dashboard/billing/subscription',
    )
  })

  it.each<[string, number, unknown, object, string]>([
    [
      'DeepSeek in yuan',
      43,
      { balance_infos: [{ currency: 'CNY', total_balance: '110.00' }] },
      { amount: 110, currency: 'CNY' },
      '/user/balance',
    ],
    [
      'DeepSeek in both',
      43,
      {
        balance_infos: [
          { currency: 'CNY', total_balance: '1.00' },
          { currency: 'USD', total_balance: '2.50' },
        ],
      },
      { amount: 2.5, currency: 'USD' },
      '/user/balance',
    ],
    ['SiliconFlow', 40, { code: 20000, data: { totalBalance: '88.5' } }, { amount: 88.5, currency: 'CNY' }, '/v1/user/info'],
    [
      'OpenRouter',
      20,
      { data: { total_credits: 100.5, total_usage: 25.75 } },
      { amount: 74.75, currency: 'USD' },
      '/api/v1/credits',
    ],
    ['Moonshot', 25, { code: 0, data: { available_balance: 49.5 } }, { amount: 49.5, currency: 'CNY' }, '/v1/users/me/balance'],
    ['API2GPT', 12, { total_remaining: 3 }, { amount: 3, currency: 'USD' }, '/dashboard/billing/credit_grants'],
    ['AIGC2D', 13, { total_available: 4 }, { amount: 4, currency: 'USD' }, '/dashboard/billing/credit_grants'],
    ['AIProxy', 10, { success: true, data: { totalPoints: 5 } }, { amount: 5, currency: 'USD' }, '/api/report/getUserOverview'],
  ])('is read from %s', (_whom, type, answer, expected, path) => {
    const { asked, step } = run(type, [answer])
    expect([asked.map((url) => new URL(url).pathname), step]).toEqual([[path], expected])
  })

  it("of Moonshot's international site is in dollars", () => {
    expect(run(25, [{ data: { available_balance: 1 } }], 'https://api.moonshot.ai').step).toEqual({ amount: 1, currency: 'USD' })
  })

  it('is undefined if the answers do not contain it', () => {
    for (const { id, balance } of providers)
      if (balance)
        for (const answer of [
          {},
          [],
          null,
          'x',
          { data: {} },
          { balance_infos: [{}] },
          { hard_limit_usd: 'much' },
          { code: 20000 },
        ])
          expect([id, run(id, [answer, answer], providerById(id)?.baseUrl || 'https://own.example').step]).toEqual([
            id,
            undefined,
          ])
  })

  it("is requested only at the channel's address, or for AIProxy at AIProxy's, so that no other host receives the key", () => {
    for (const { id, balance } of providers) {
      if (!balance) continue
      const { asked } = run(id, [{ hard_limit_usd: 1 }], 'https://own.example/v1')
      expect([id, asked.filter((url) => new URL(url).origin !== 'https://own.example')]).toEqual([id, []])
    }
    expect(run(10, [{}], 'https://proxy.example')).toEqual({ asked: [], step: undefined })
  })
})
