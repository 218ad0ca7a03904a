import { expect, it } from 'vitest'
import { inOwnLanguage } from './own-language.ts'

it.each([
  ['管理员封禁了账户 / Banned by an admin', '管理员封禁了账户', 'Banned by an admin'],
  ['调整 +$1：a / b / Changed +$1: a / b', '调整 +$1：a / b', 'Changed +$1: a / b'],
  ['调整 +$1：退款 / Changed +$1: 退款', '调整 +$1：退款', 'Changed +$1: 退款'],
])('of %j the half in the reader’s language is shown', (text, zh, en) => {
  expect([inOwnLanguage(text, 'zh'), inOwnLanguage(text, 'en')]).toEqual([zh, en])
})

it.each(['Banned by an admin', '只有一种语言', '甲 / 乙', 'one / two', '一 / two / three'])('shows %j unchanged', (text) => {
  expect([inOwnLanguage(text, 'zh'), inOwnLanguage(text, 'en')]).toEqual([text, text])
})
