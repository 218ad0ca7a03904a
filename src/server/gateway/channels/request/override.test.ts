import { describe, expect, it } from 'vitest'
import { type BodyRule, bodyRules, headerOverrides } from '../../../../contract/entities/channel-overrides.ts'
import { changedMembers, overrideBody, overrideHeaders } from './override.ts'

const body = Object.freeze({
  model: 'gpt-4o',
  messages: Object.freeze([
    { role: 'user', content: 'a', name: 'x' },
    { role: 'user', content: 'b', cache: 1 },
  ]),
  temperature: 0,
  stop: null,
  extra: Object.freeze({ deep: Object.freeze({ list: Object.freeze([1, 2]) }) }),
})
const run = (rules: unknown, model = 'gpt-4o') => overrideBody(body, bodyRules.parse(rules), { model, asked: 'asked-name' })
const changes = (rules: unknown, model?: string) => changedMembers(body, run(rules, model))

describe('the body rules of a channel', () => {
  it.each<[string, unknown[], object]>([
    ['set a member', [{ set: 'temperature', to: 0.5 }], { temperature: 0.5 }],
    ['set a new one', [{ set: 'seed', to: 0 }], { seed: 0 }],
    ['make what is on the way', [{ set: 'a.b.c', to: [] }], { a: { b: { c: [] } } }],
    [
      'set inside of a list',
      [{ set: 'messages[0].content', to: 'z' }],
      { messages: [{ ...body.messages[0], content: 'z' }, body.messages[1]] },
    ],
    ['add to the end of a list', [{ set: 'extra.deep.list[2]', to: 3 }], { extra: { deep: { list: [1, 2, 3] } } }],
    ['begin a list', [{ set: 'tags[0]', to: 'x' }], { tags: ['x'] }],
    [
      'set in each entry',
      [{ set: 'messages[*].role', to: 'system' }],
      { messages: body.messages.map((message) => ({ ...message, role: 'system' })) },
    ],
    ['take names with dots', [{ set: '$["x.y"]["z"]', to: 1 }], { 'x.y': { z: 1 } }],
    ['give a default where there is none', [{ default: 'top_p', to: 0.9 }], { top_p: 0.9 }],
    ['give a default where there is null', [{ default: 'stop', to: ['x'] }], { stop: ['x'] }],
    ['give no default where there is a value, even 0', [{ default: 'temperature', to: 1 }], {}],
    ['remove a member', [{ remove: 'temperature' }], { temperature: undefined }],
    [
      'remove from each entry',
      [{ remove: 'messages[*].cache' }],
      { messages: [body.messages[0], { role: 'user', content: 'b' }] },
    ],
    ['remove an entry', [{ remove: 'extra.deep.list[0]' }], { extra: { deep: { list: [2] } } }],
    ['rename a member', [{ rename: 'temperature', to: 'heat' }], { temperature: undefined, heat: 0 }],
    [
      'rename into an object',
      [{ rename: 'temperature', to: 'extra.heat' }],
      { temperature: undefined, extra: { ...body.extra, heat: 0 } },
    ],
    [
      'keep what stands under the new name',
      [
        { rename: 'temperature', to: 'model2' },
        { rename: 'extra', to: 'model2' },
      ],
      { temperature: undefined, extra: undefined, model2: 0 },
    ],
    ['see what those before them left', [{ set: 'a', to: 1 }, { rename: 'a', to: 'b' }, { remove: 'b' }], {}],
  ])('%s', (_what, rules, expected) => {
    expect(changes(rules)).toEqual(expected)
  })

  it.each<[string, unknown[]]>([
    ['a member that is not there', [{ remove: 'nothing' }, { rename: 'nothing', to: 'x' }, { remove: 'messages[9]' }]],
    [
      'a path through a text or a number',
      [
        { set: 'model2', to: 1, when: { path: 'nothing' } },
        { set: 'temperature.x', to: 1 },
        { set: 'messages.x', to: 1 },
      ],
    ],
    ['a rename that leads nowhere', [{ rename: 'stop', to: 'temperature.x' }]],
    ['a hole in a list', [{ set: 'extra.deep.list[7]', to: 1 }]],
    ['the same value again', [{ set: 'temperature', to: 0 }]],
  ])('leave the body unchanged for %s', (_what, rules) => {
    expect(run(rules)).toBe(body)
  })

  it('share untouched values, and never change their input', () => {
    const after = run([{ set: 'messages[1].content', to: 'z' }])
    expect(after.extra).toBe(body.extra)
    expect((after.messages as unknown[])[0]).toBe(body.messages[0])
    expect(body.messages[1]?.content).toBe('b')
  })

  it('treat names such as __proto__ as plain member names', () => {
    const after = overrideBody(
      {},
      bodyRules.parse([
        { set: '__proto__.polluted', to: true },
        { set: 'constructor.x', to: 1 },
      ]),
      { model: 'm' },
    )
    expect({}).not.toHaveProperty('polluted')
    expect(JSON.stringify(after)).toBe('{"__proto__":{"polluted":true},"constructor":{"x":1}}')
  })

  it.each<[object, boolean]>([
    [{ model: 'gpt-4*' }, true],
    [{ model: ['o3', '*-4o'] }, true],
    [{ model: 'asked-*' }, true],
    [{ model: 'claude*' }, false],
    [{ path: 'temperature' }, true],
    [{ path: 'top_p' }, false],
    [{ path: 'top_p', exists: false }, true],
    [{ path: 'temperature', exists: false }, false],
    [{ path: 'temperature', equals: 0 }, true],
    [{ path: 'temperature', equals: '0' }, false],
    [{ path: 'stop', equals: null }, true],
    [{ path: 'extra.deep', equals: { list: [1, 2] } }, true],
    [{ path: 'messages[*].content', equals: 'b' }, true],
    [{ path: 'messages[*].content', equals: 'c' }, false],
    [{ model: 'claude*', path: 'temperature' }, false],
  ])('hold under %o: %s', (when, isHeld) => {
    expect(changes([{ set: 'seed', to: 1, when }])).toEqual(isHeld ? { seed: 1 } : {})
  })

  it('may be given as an object of members to set', () => {
    expect(changes({ temperature: 1, 'a.b': 2 })).toEqual({ temperature: 1, 'a.b': 2 })
  })

  it.each<unknown>([
    [{ set: 'model', to: 'x' }],
    [{ set: '$.stream', to: true }],
    [{ remove: '["model"]' }],
    [{ rename: 'x', to: 'stream' }],
    [{ default: 'stream.x', to: 1 }],
    { model: 'x' },
    [{ set: 'a..b', to: 1 }],
    [{ set: '', to: 1 }],
    [{ set: 'a[-1]', to: 1 }],
    [{ set: 'a', to: 1, unless: {} }],
    [{ set: 'a', to: 1, when: { modle: 'x' } }],
    [{ rename: 'a[*].b', to: 'c' }],
    [{ set: 'a' }],
    [{}],
    'x',
  ])('are refused when they are saved as %o', (rules) => {
    expect(bodyRules.safeParse(rules).success).toBe(false)
  })

  it('may set members whose names only begin like the refused ones', () => {
    expect(
      bodyRules.safeParse([
        { set: 'stream_options.include_usage', to: true },
        { set: 'models', to: [] },
      ] satisfies BodyRule[]).success,
    ).toBe(true)
  })
})

describe('the headers of a channel', () => {
  const headers = { authorization: 'Bearer key', accept: 'application/json' }

  it('are set, replaced and removed, in lower case, with the key in place of {api_key}', () => {
    const overrides = { Authorization: 'Token {api_key}', 'X-Twice': '{api_key}/{api_key}', accept: null, 'x-missing': null }
    expect(overrideHeaders(headers, headerOverrides.parse(overrides), { apiKey: "$&k'" })).toEqual({
      authorization: "Token $&k'",
      'x-twice': "$&k'/$&k'",
    })
    expect(overrideHeaders(headers, undefined, { apiKey: 'k' })).toEqual(headers)
    expect(headers.authorization).toBe('Bearer key')
  })

  it('never break a line', () => {
    expect(overrideHeaders({}, { 'x-key': '{api_key}' }, { apiKey: 'a\r\nb: c' })).toEqual({ 'x-key': 'a b: c' })
  })

  it.each([
    { Host: 'x' },
    { 'Content-Length': '1' },
    { 'content-type': 'x' },
    { 'x y': 'z' },
    { x: 'a\r\nb' },
    { x: 'ü' },
    { x: 1 },
  ])('are refused when they are saved as %o', (overrides) => {
    expect(headerOverrides.safeParse(overrides).success).toBe(false)
  })
})
