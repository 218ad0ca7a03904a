import { expect, it } from 'vitest'
import { findPeriod, newTotpSecret, periodAt, totpCode, totpUri } from './totp.ts'

/** `12345678901234567890`, the secret of the standard. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

it.each([
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
])('makes the codes of RFC 6238, appendix B: at %d s %s', (seconds, code) => {
  expect(totpCode(secret, periodAt(seconds))).toBe(code)
})

it('accepts codes of the present period and its neighbours, and returns their period', () => {
  const code = totpCode(secret, 1000)
  expect(
    [1000 * 30 - 31, 1000 * 30 - 30, 1000 * 30, 1001 * 30 + 29, 1002 * 30].map((at) => findPeriod(secret, code, at)),
  ).toEqual([undefined, 1000, 1000, 1000, undefined])
})

it('[T018] makes 160-bit secrets that never repeat', () => {
  const made = new Set(Array.from({ length: 1000 }, newTotpSecret))
  expect(made.size).toBe(1000)
  for (const one of made) expect(one).toMatch(/^[A-Z2-7]{32}$/)
})

it('encodes site and account so that none of their characters changes the URI', () => {
  const url = new URL(totpUri({ secret, site: 'A & B: C', account: 'ada?x=1' }))
  expect(Object.fromEntries(url.searchParams)).toEqual({
    secret,
    issuer: 'A & B  C',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
  expect(decodeURIComponent(url.pathname)).toBe('/A & B  C:ada?x=1')
})
