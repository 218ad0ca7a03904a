import { describe, expect, it } from 'vitest'
import { bodyRules } from '../../../../contract/entities/channel-overrides.ts'
import { chainsOf, readMapping, writeMapping } from './mapping.ts'
import { faultOfHeader, isHeaderTwice, newHeader, readHeaders, writeHeaders } from './settings/headers.ts'
import { faultsOfRule, newCondition, newRule, readRules, readValue, writeRules } from './settings/rules.ts'

describe('rules as rows', () => {
  const rules = [
    { set: 'temperature', to: 0.7 },
    { default: 'metadata.team', to: 'blue', when: { model: 'gpt-4*' } },
    { set: 'user', to: '0.5' },
    { remove: 'messages[*].name', when: { model: ['a*', 'b'], path: 'tools', exists: false } },
    { rename: 'max_tokens', to: 'max_completion_tokens', when: { path: 'reasoning.effort', equals: ['high'] } },
  ]

  it('are written back unchanged', () => {
    expect(JSON.parse(writeRules(readRules(JSON.stringify(rules)) ?? []))).toEqual(rules)
    expect(writeRules(readRules('') ?? [])).toBe('')
  })

  it('are not written if they are empty', () => {
    expect(writeRules([newRule, newRule])).toBe('')
    expect(writeHeaders([newHeader, newHeader])).toBe('')
    expect(writeMapping([{ from: '', to: ' ' }])).toBe('')
  })

  it('read an object as one setting for each member', () => {
    expect(readRules('{"top_p":1,"x y":"z"}')).toMatchObject([
      { action: 'set', path: 'top_p', to: '1' },
      { action: 'set', path: '["x y"]', to: 'z' },
    ])
  })

  it.each([
    '[1]',
    '{',
    '"text"',
    '[{"set":"a","to":1,"more":2}]',
    '[{"set":"a","to":1,"when":{"path":"b","equals":1,"exists":false}}]',
  ])('leave %s to the JSON view', (text) => expect(readRules(text)).toBeUndefined())

  it('read a value as JSON if it is JSON, and as text otherwise', () => {
    expect(['0.7', 'true', 'null', 'high', '"0.7"', '[1]'].map(readValue)).toEqual([0.7, true, null, 'high', '0.7', [1]])
    expect(['', '{"a":', '[1', '"a'].map(readValue)).toEqual([undefined, undefined, undefined, undefined])
  })

  it('are refused by the contract while they are incomplete', () => {
    const halves = [
      { ...newRule, path: 'a' },
      { ...newRule, to: '1' },
      { ...newRule, path: 'a', to: '{"b":' },
      { ...newRule, path: 'a', to: '1', when: { ...newCondition, path: 'b', test: 'equals' as const, value: '[' } },
    ]
    for (const half of halves) expect(bodyRules.safeParse(JSON.parse(writeRules([half]))).success).toBe(false)
    expect(bodyRules.safeParse(JSON.parse(writeRules([{ ...newRule, path: 'a', to: '1', when: newCondition }]))).success).toBe(
      true,
    )
  })

  it('report the fault of each field', () => {
    expect(faultsOfRule({ ...newRule, path: 'temperature', to: '1' })).toEqual({})
    expect(faultsOfRule({ ...newRule, path: 'model', to: '' })).toMatchObject({
      path: { en: 'cannot change model or stream' },
      to: { en: 'has an invalid form' },
    })
    expect(faultsOfRule({ ...newRule, action: 'remove', path: 'a b' })).toMatchObject({ path: { zh: '不是有效的路径' } })
    const when = { models: 'x'.repeat(300), path: 'a b', test: 'equals' as const, value: '{' }
    expect(Object.keys(faultsOfRule({ ...newRule, path: 'a', to: '1', when })).sort()).toEqual(['models', 'value', 'whenPath'])
  })
})

describe('headers as rows', () => {
  it('are written back unchanged', () => {
    const text = '{"x-team":"blue","authorization":"Token {api_key}","user-agent":null}'
    expect(writeHeaders(readHeaders(text) ?? [])).toBe(text)
    expect(readHeaders('{"a":1}')).toBeUndefined()
  })

  it('report the fault of a name or a value', () => {
    expect(faultOfHeader({ ...newHeader, name: 'x-a', value: 'b' })).toBeUndefined()
    expect(faultOfHeader({ ...newHeader, name: 'a b' })).toMatchObject({ field: 'name' })
    expect(faultOfHeader({ ...newHeader, name: 'Host', value: 'x' })).toMatchObject({
      field: 'name',
      reason: { en: 'names a header that cannot be changed' },
    })
    expect(faultOfHeader({ ...newHeader, name: 'x-a', value: 'é' })).toMatchObject({ field: 'value' })
  })

  it('are not saved with a repeated name', () => {
    const rows = [
      { ...newHeader, name: 'X-A', value: '1' },
      { ...newHeader, name: 'x-a', value: '2' },
    ]
    expect([0, 1].map((index) => isHeaderTwice(rows, index))).toEqual([false, true])
    expect(JSON.parse(writeHeaders(rows))).toEqual({ 'X-A': '1', 'x-a': 0 })
  })
})

describe('the model mapping', () => {
  it('shows each chain up to its end', () => {
    expect(chainsOf('{"a":"b","b":"c","x":"y"}')).toEqual([{ steps: ['a', 'b', 'c'], isCircle: false }])
  })

  it('reports a circle only once', () => {
    expect(chainsOf('{"a":"b","b":"a","c":"a"}')).toEqual([{ steps: ['a', 'b', 'a'], isCircle: true }])
    expect(chainsOf('{"a":"a"}')).toEqual([{ steps: ['a', 'a'], isCircle: true }])
    expect(chainsOf('{"c":"a","a":"a"}')).toEqual([{ steps: ['c', 'a', 'a'], isCircle: true }])
  })

  it('leaves an invalid mapping as text', () => {
    for (const text of ['{', '[]', '{"a":1}']) expect([readMapping(text), chainsOf(text)]).toEqual([undefined, []])
  })

  it('cannot be saved with a repeated model', () => {
    expect(
      JSON.parse(
        writeMapping([
          { from: 'a', to: 'b' },
          { from: ' a', to: 'c' },
        ]),
      ),
    ).toEqual({ a: '' })
  })
})
