import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { auditActions, auditedChanges, auditSentence } from './audit-actions.ts'

const noName = () => undefined

it('every action that the server records has a sentence', () => {
  const folder = new URL('../server/', import.meta.url)
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /(?<!\.test)\.ts$/.test(path))
  const recorded = new Set(
    sources.flatMap((path) =>
      [
        ...readFileSync(new URL(path, folder), 'utf8').matchAll(
          /action:[^\n]*?'([a-z_-]+\.[a-z_-]+)'(?:[^\n]*?'([a-z_-]+\.[a-z_-]+)')?/g,
        ),
      ].flatMap(([, one, other]) => [one ?? '', ...(other ? [other] : [])]),
    ),
  )
  expect(recorded.size).toBeGreaterThan(30)
  expect([...recorded].filter((action) => !(action in auditActions))).toEqual([])
})

it.each([
  [{ action: 'user.disable', target: 'user:7' }, 'Disabled user 7', '禁用了用户 7'],
  [{ action: 'option.save', target: 'option:RetryTimes' }, 'Changed the setting “Retries”', '修改了设置“重试”'],
  [{ action: 'channel.edit', target: 'channel:3, 4' }, 'Changed channel 3, 4', '修改了渠道 3, 4'],
  [{ action: 'odd.action', target: 'thing:$&' }, 'odd.action thing:$&', 'odd.action thing:$&'],
])('%o', (row, en, zh) => {
  expect(auditSentence(row, () => ({ zh: '重试', en: 'Retries' }))).toEqual({ en, zh })
})

it('shows members that differ alone, and other values as a whole', () => {
  const before = JSON.stringify({ name: 'a', weight: 1, models: ['x'] })
  const after = JSON.stringify({ name: 'a', weight: 2, models: ['x'], tag: 't' })
  expect(auditedChanges({ before, after })).toEqual([
    { name: 'weight', before: '1', after: '2' },
    { name: 'tag', before: '', after: 't' },
  ])
  expect(auditedChanges({ before: '0', after: '2' })).toEqual([{ name: '', before: '0', after: '2' }])
  expect(auditedChanges({ before: '', after: '' })).toEqual([])
  expect(auditedChanges({ before: '', after: '{"a":1}' })).toEqual([{ name: 'a', before: '', after: '1' }])
  expect(auditSentence({ action: 'user.edit', target: 'user:1' }, noName).en).toBe('Changed user 1')
})
