import { expect, it } from 'vitest'
import { chatUrl, withPlaces } from './chat-link.ts'

const use = { key: 'sk-abc', address: 'https://gate.example' }

it('puts key and server into a chat link', () => {
  const link = 'https://chat.example/#/?settings={"key":"{key}","url":"{address}"}'
  expect(decodeURIComponent(String(chatUrl(link, use)))).toBe(
    'https://chat.example/#/?settings={"key":"sk-abc","url":"https://gate.example"}',
  )
  expect(String(chatUrl('ama://set-api-key?server={address}&key={key}', use))).toBe(
    'ama://set-api-key?server=https%3A%2F%2Fgate.example&key=sk-abc',
  )
})

it('adds the parameters to a link that only names a page', () => {
  const link = 'https://chat.example/#/?settings={"key":"{key}","url":"{address}"}'
  expect([withPlaces('https://chat.example/'), withPlaces(link)]).toEqual([link, link])
})

it('refuses links that could run a script in the console, and texts that are no URL', () => {
  for (const link of [
    'javascript:alert("{key}")',
    ' JavaScript:alert(1)',
    'data:text/html,{key}',
    'blob:x',
    'file:///etc',
    'chat',
    '',
  ])
    expect(chatUrl(link, use), link).toBeUndefined()
})
