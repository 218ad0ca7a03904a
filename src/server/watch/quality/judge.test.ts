import { describe, expect, it } from 'vitest'
import { type Expectation, expectation } from '../../../contract/entities/quality-check.ts'
import { readAnswer } from './answer.ts'
import { faultsOf } from './judge.ts'

const said = (content: unknown, more: object = {}) =>
  readAnswer({ choices: [{ message: { content, ...more } }], usage: { prompt_tokens: 9, completion_tokens: 5 } })
const called = (name: string, given: unknown) =>
  said(null, { tool_calls: [{ id: '1', type: 'function', function: { name, arguments: given } }] })
const reasons = (expected: object, answer: ReturnType<typeof said>) =>
  faultsOf([expectation.parse(expected)], answer).map(({ reason, detail }) => `${reason} ${detail}`.trim())

describe('an answer', () => {
  it.each<[object, string, string[]]>([
    [{ kind: 'exact', value: '391' }, ' 391\n', []],
    [{ kind: 'exact', value: '391' }, '391.', ['differs 391.']],
    [{ kind: 'exact', value: 'Paris', ignore_case: true }, 'PARIS', []],
    [{ kind: 'exact', value: 'Paris' }, 'PARIS', ['differs PARIS']],
    [{ kind: 'contains', value: 'blue' }, 'a blue sky', []],
    [{ kind: 'contains', value: 'blue' }, 'a grey sky', ['missing blue']],
    [{ kind: 'pattern', value: 'It is *391*' }, 'It is 391, exactly', []],
    [{ kind: 'pattern', value: 'It is *391' }, 'It is 392', ['differs It is 392']],
    [{ kind: 'json', members: [] }, '{}', []],
    [{ kind: 'json', members: ['user.name', 'items.1'] }, '```json\n{"user":{"name":""},"items":[1,2]}\n```', []],
    [{ kind: 'json', members: ['user.age'] }, '{"user":{"name":"a"}}', ['no_member user.age']],
    [{ kind: 'json', members: ['toString'] }, '{}', ['no_member toString']],
    [{ kind: 'json', members: [] }, 'Sure: {}', ['no_json Sure: {}']],
    [{ kind: 'tokens', min: 5, max: 5 }, 'x', []],
    [{ kind: 'tokens', min: 6, max: 9 }, 'x', ['too_few 5']],
    [{ kind: 'tokens', min: 0, max: 4 }, 'x', ['too_many 5']],
  ])('is compared with %j', (expected, text, faults) => {
    expect(reasons(expected, said(text))).toEqual(faults)
  })

  it('has to call the tool with at least these arguments', () => {
    const weather = { kind: 'tool', name: 'get_weather', arguments: '{"city":"Paris","days":[1,2]}' }
    expect(reasons(weather, called('get_weather', '{"days":[1,2],"city":"Paris","unit":"C"}'))).toEqual([])
    expect(reasons(weather, called('get_weather', '{"city":"Rome","days":[1,2]}'))).toEqual(['argument_differs city: "Rome"'])
    expect(reasons(weather, called('get_weather', '{"city":'))).toEqual(['bad_arguments {"city":'])
    expect(reasons(weather, called('search', '{}'))).toEqual(['no_tool search'])
    expect(reasons({ kind: 'tool', name: 'search' }, called('search', ''))).toEqual([])
    expect(reasons({ kind: 'tool', name: 'search' }, said('It is sunny'))).toEqual(['no_tool'])
  })

  it('without the expected members fails every expectation, and never throws', () => {
    const kinds: Expectation[] = [
      { kind: 'exact', value: 'a', ignore_case: false },
      { kind: 'json', members: ['a'] },
      { kind: 'tool', name: 'a', arguments: '' },
      { kind: 'tokens', min: 1, max: 2 },
    ]
    const odd = [{}, { choices: [] }, { choices: [null] }, { choices: [{ message: { content: 5, tool_calls: [{}, null, 3] } }] }]
    for (const reply of odd) expect(faultsOf(kinds, readAnswer(reply)).map(({ index }) => index)).toEqual([0, 1, 2, 3])
  })

  it('of a hostile model is matched in a bounded time', () => {
    const answer = said('a'.repeat(200_000))
    expect(reasons({ kind: 'pattern', value: `${'*a'.repeat(900)}b` }, answer)).toHaveLength(1)
    expect(faultsOf([expectation.parse({ kind: 'exact', value: 'b' })], answer)[0]?.detail).toHaveLength(200)
  })
})
