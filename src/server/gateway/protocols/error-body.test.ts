import { describe, expect, it } from 'vitest'
import { AppError } from '../../base/lib/failure.ts'
import { errorBody, errorHeaders, ownError, statusFor } from './error-body.ts'
import type { Dialect } from './format.ts'

const dialects: readonly Dialect[] = ['openai', 'anthropic', 'gemini']
const saturated = (retryAfter: number) => ownError(new AppError('upstream_saturated'), { retryAfter })
const bodyOf = (dialect: Dialect, error: ReturnType<typeof ownError>, language: 'zh' | 'en' = 'en') =>
  errorBody(dialect, error, { requestId: 'id', language })

describe('the wait of an error', () => {
  it.each(dialects)('is in a header up to two minutes, for Gemini in the body too (%s)', (dialect) => {
    const error = saturated(119.5)
    expect(errorHeaders(dialect, error, 'id')).toMatchObject({ 'retry-after': '120' })
    expect(errorHeaders(dialect, error, 'id')).not.toHaveProperty('x-should-retry')
    expect(bodyOf(dialect, error).includes('"retryDelay":"120s"')).toBe(dialect === 'gemini')
    expect(bodyOf(dialect, saturated(0))).not.toContain('RetryInfo')
  })

  it.each<[number, string, string]>([
    [121, '3 minutes', '3 分钟'],
    [3600, '60 minutes', '60 分钟'],
    [7201, '3 hours', '3 小时'],
    [172_800, '2 days', '2 天'],
  ])('is told in words when it is longer (%d s), and discourages retries', (seconds, en, zh) => {
    const error = saturated(seconds)
    for (const dialect of dialects) {
      expect(errorHeaders(dialect, error, 'id')).toMatchObject({ 'x-should-retry': 'false' })
      expect(errorHeaders(dialect, error, 'id')).not.toHaveProperty('retry-after')
      expect(bodyOf(dialect, error)).toContain(`(the wait is about ${en})`)
      expect(bodyOf(dialect, error, 'zh')).toContain(`（需等待约 ${zh}）`)
      expect(bodyOf(dialect, error)).not.toContain('RetryInfo')
    }
  })
})

describe('an error of the operator, which a repeated request meets again', () => {
  it.each(['upstream_quota_exhausted', 'upstream_account_refused'] as const)('is no overload: %s', (code) => {
    const error = ownError(new AppError(code))
    expect(statusFor('anthropic', error)).toBe(503)
    expect(bodyOf('anthropic', error)).not.toContain('overloaded')
    expect(JSON.parse(bodyOf('gemini', error)).error).toMatchObject({ code: 503, status: 'FAILED_PRECONDITION' })
  })

  it('differs from an overload, which Messages has a status for', () => {
    const error = ownError(new AppError('upstream_unavailable'))
    expect(dialects.map((dialect) => statusFor(dialect, error))).toEqual([503, 529, 503])
    expect(JSON.parse(bodyOf('anthropic', error)).error.type).toBe('overloaded_error')
  })
})
