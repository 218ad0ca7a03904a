import { expect, it } from 'vitest'
import { areTypes } from './cached-types.ts'

const both = { zh: '密钥', en: 'Key' }
const type = {
  ...{ id: 1, key: 'openai', label: both, color: 'green', base_url: '', models: ['gpt-4o'], key_format: both },
  ...{ other_label: null, other_default: '', docs: '' },
}

it('stored channel types are accepted only in the shape of this version', () => {
  expect(areTypes([type])).toBe(true)
  expect(areTypes([])).toBe(true)
  for (const other of [
    { ...type, label: 'OpenAI' },
    { ...type, models: 'gpt-4o' },
    { ...type, models: [1] },
    { ...type, id: '1' },
    { ...type, other_label: 'x' },
  ])
    expect(areTypes([type, other])).toBe(false)
  for (const other of [null, {}, 'types', [null]]) expect(areTypes(other)).toBe(false)
})
