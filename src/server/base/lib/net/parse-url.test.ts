import { expect, it } from 'vitest'
import { parseUrl } from './parse-url.ts'

it('returns the same URL for a text with Latin-1 letters on every call', () => {
  const text = 'https://BÜCHER.example'
  for (let round = 0; round < 100_000; round++) {
    if (parseUrl(text)?.origin !== 'https://xn--bcher-kva.example') expect.unreachable(`round ${round}`)
  }
})

it('reads addresses against a base, and rejects invalid ones', () => {
  expect(parseUrl('../next?a=1', 'https://first.example/a/b')?.href).toBe('https://first.example/next?a=1')
  expect(parseUrl('/next')).toBeUndefined()
  expect(parseUrl('')).toBeUndefined()
})
