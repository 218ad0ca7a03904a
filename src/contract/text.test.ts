import { expect, it } from 'vitest'
import { fill } from './text.ts'

it('replaces placeholders, and leaves those without a param', () => {
  expect(fill('{name} of {site}', { name: { zh: '密钥', en: 'key' } }, 'zh')).toBe('密钥 of {site}')
})

it('takes the form of a word that belongs to its number', () => {
  const say = (count: number | string) => fill('{count} {count|key|keys} added', { count }, 'en')
  expect([1, 0, 2, '1', '1,001'].map(say)).toEqual([
    '1 key added',
    '0 keys added',
    '2 keys added',
    '1 key added',
    '1,001 keys added',
  ])
})
