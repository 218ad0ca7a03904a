import { expect, it } from 'vitest'
import { fill, inBothLanguages, inOwnLanguage } from './text.ts'

it('replaces placeholders, and leaves those without a param', () => {
  expect(fill('{name} of {site}', { name: { zh: '密钥', en: 'key' } }, 'zh')).toBe('密钥 of {site}')
})

it('uses the form of a word that matches its number', () => {
  const say = (count: number | string) => fill('{count} {count|key|keys} added', { count }, 'en')
  expect([1, 0, 2, '1', '1,001'].map(say)).toEqual([
    '1 key added',
    '0 keys added',
    '2 keys added',
    '1 key added',
    '1,001 keys added',
  ])
})

it.each([
  ['管理员封禁了账户 / Banned by an admin', '管理员封禁了账户', 'Banned by an admin'],
  ['调整 +$1：a / b / Changed +$1: a / b', '调整 +$1：a / b', 'Changed +$1: a / b'],
  ['调整 +$1：退款 / Changed +$1: 退款', '调整 +$1：退款', 'Changed +$1: 退款'],
])('returns the half of %j in the reader’s language', (text, zh, en) => {
  expect([inOwnLanguage(text, 'zh'), inOwnLanguage(text, 'en')]).toEqual([zh, en])
})

it.each(['Banned by an admin', '只有一种语言', '甲 / 乙', 'one / two', '一 / two / three'])('returns %j unchanged', (text) => {
  expect([inOwnLanguage(text, 'zh'), inOwnLanguage(text, 'en')]).toEqual([text, text])
})

it('joins both languages so that each half can be read again, and writes a text that is the same in both once', () => {
  const joined = inBothLanguages({ zh: '余额不足', en: 'Balance too low' })
  expect([inOwnLanguage(joined, 'zh'), inOwnLanguage(joined, 'en')]).toEqual(['余额不足', 'Balance too low'])
  expect(inBothLanguages({ zh: 'overloaded', en: 'overloaded' })).toBe('overloaded')
})
