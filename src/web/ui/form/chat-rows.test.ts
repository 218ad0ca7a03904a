import { expect, it } from 'vitest'
import { chats } from '../../../contract/options/site.ts'
import { faultsOfChat, missingChats, newChat, readChats, writeChats } from './chat-rows.ts'

it('shows the list of chat pages as rows and writes it back unchanged', () => {
  const saved = JSON.stringify(chats.options.Chats.default, null, 2)
  const rows = readChats(saved) ?? []
  expect(rows[0]).toEqual({ name: 'NextChat', link: 'https://app.nextchat.dev/#/?settings={"key":"{key}","url":"{address}"}' })
  expect(writeChats(rows)).toBe(saved)
  expect([readChats(''), readChats('[]'), writeChats([newChat])]).toEqual([[], [], '[]'])
})

it('shows any other form than a list of single links as text', () => {
  for (const text of ['{', '{}', '["x"]', '[{}]', '[{"a":"https://x","b":"https://y"}]', '[{"a":1}]', '[null]'])
    expect(readChats(text), text).toBeUndefined()
})

it('reports the fault of each row', () => {
  const row = { name: 'a', link: 'https://chat.example/?k={key}' }
  const faulty = (given: object) =>
    Object.entries(faultsOfChat({ ...row, ...given })).flatMap(([field, fault]) => (fault ? [field] : []))
  expect([faulty({}), faulty({ name: '' }), faulty({ link: 'chat' }), faulty({ link: 'javascript://%0aalert(1)' })]).toEqual([
    [],
    ['name'],
    ['link'],
    ['link'],
  ])
  expect(faulty(newChat)).toEqual(['name', 'link'])
})

it('offers the well-known pages that are not in the list', () => {
  const known = missingChats([])
  expect(known.map(({ name }) => name)).toContain('OpenCat')
  expect(missingChats(known)).toEqual([])
})
