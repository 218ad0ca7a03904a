import { expect, it } from 'vitest'
import { keep, keepAddress, keepFields, keepHeader, note, search } from './helpers/canaries.ts'

it('[T237] the search for secrets finds each of them in any encoding, and reports no ordinary word', () => {
  search()
  keepHeader('Authorization', 'Bearer sk-Header0123')
  keepHeader('accept', 'text/html-0123')
  keepAddress('/v1beta/models?key=Query%2F0123&model=gpt-4o-mini')
  keepFields({ inner: [{ password: 'pass "word" 0123', code: 'not_signed_in', name: 'gpt-4o-mini' }] })
  keepFields({ key: 'SMTPToken', value: 'Option0123' })
  keepFields({ code: '123456' })
  keep('a word', 'unknown')
  note('logs', 'a Header0123 b Query%2F0123 c pass \\"word\\" 0123 of gpt-4o-mini, unknown: text/html-0123')
  note('refusals', `${Buffer.from('Option0123').toString('base64')} 1123456 not_signed_in 123456 SMTPToken`)
  const { found } = search()
  expect(found.map(({ place, secret }) => `${secret} in ${place}`).sort()).toEqual([
    '123456 in refusals',
    'Header0123 in logs',
    'Option0123 in refusals',
    'Query/0123 in logs',
    'pass "word" 0123 in logs',
  ])
})
