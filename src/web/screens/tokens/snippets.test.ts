import { expect, it } from 'vitest'
import type { Token } from '../../../contract/entities/token.ts'
import { curlOf, sdkOf } from './snippets.ts'

// Only the members that are read.
const token = { key: 'abc', model_limits_enabled: true, model_limits: "it's,b" } as Token
const use = { token, address: 'https://gate.example' }

it('writes a command that a shell parses as intended', () => {
  expect(curlOf(use)).toBe(
    [
      'curl https://gate.example/v1/chat/completions \\',
      '  -H "Authorization: Bearer sk-abc" \\',
      '  -H "Content-Type: application/json" \\',
      `  -d '{"model":"it'\\''s","messages":[{"role":"user","content":"Hello"}]}'`,
    ].join('\n'),
  )
})

it('names a model that the token may use', () => {
  expect(sdkOf(use)).toContain(`model="it's"`)
  expect(sdkOf({ ...use, token: { ...token, model_limits_enabled: false } })).toContain('model="gpt-6-luna"')
})
