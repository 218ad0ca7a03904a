import { describe, expect, it } from 'vitest'
import { emptyAccounts, limitedAccounts, type VendorError } from '../../../../test/helpers/empty-accounts.ts'
import { recognise } from './known-errors.ts'
import { readOpenAiError } from './openai-chat/errors.ts'

function known({ status, body }: VendorError) {
  const facts = readOpenAiError(body)
  return recognise(facts, facts.status || status)
}
const names = (errors: readonly VendorError[]) => errors.map((each) => [each.vendor, each] as const)

describe('an account without credit', () => {
  it.each(names(emptyAccounts))('is recognised at %s', (_, error) => {
    expect(known(error)).toEqual({ kind: 'quota-exhausted' })
  })

  it.each(names(limitedAccounts))('is told from one that only refuses this model or request, at %s', (_, error) => {
    expect(known(error)).toEqual({ kind: 'quota-exhausted', isPartial: true })
  })

  it('is recognised by status 402 alone', () => {
    const facts = { message: 'Pay first', type: '', code: '', param: null, status: 0 }
    expect([recognise(facts, 402), recognise(facts, 403)]).toEqual([{ kind: 'quota-exhausted' }, undefined])
  })
})
