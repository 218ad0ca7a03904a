import { expect, it } from 'vitest'
import { cpuMs } from '../../../../../test/helpers/cpu-time.ts'
import { matchesName } from './match-name.ts'

it.each([
  ['gpt-4*', ['gpt-4', 'gpt-4o', 'gpt-4-*'], ['gpt-3', 'xgpt-4', 'GPT-4']],
  ['*', ['', 'x'], []],
  ['*-mini', ['gpt-4o-mini', '-mini', '-mini-mini'], ['gpt-4o-mini-2024', 'mini']],
  ['a*b*c', ['abc', 'aXbXc', 'abbcc', 'abcbc'], ['ab', 'acb', 'abcx']],
  ['o3', ['o3'], ['o3-mini', 'o', '']],
  ['a.c', ['a.c'], ['abc']],
  ['', [''], ['a']],
])('%s matches as documented', (pattern, fitting, others) => {
  expect(fitting.filter((name) => !matchesName(pattern, name))).toEqual([])
  expect(others.filter((name) => matchesName(pattern, name))).toEqual([])
})

it('takes no exponential time for hostile patterns', () => {
  const matching = () => expect(matchesName(`${'*a'.repeat(120)}b`, 'a'.repeat(255))).toBe(false)
  expect(cpuMs(matching)).toBeLessThan(2000)
})
