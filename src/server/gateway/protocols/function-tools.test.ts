import { describe, expect, it } from 'vitest'
import { dialogueOf, tideTool, toolTurns, user } from '../../../../test/helpers/dialogue.ts'
import { callObject, callText, functionTools, undoing } from './function-tools.ts'

const unlost = { lose: () => {} }
const rule = { allowed: /[a-zA-Z0-9_-]/, lengthMax: 20 }
const other = { ...tideTool, name: 'other' }
const names = (tools: ReturnType<typeof functionTools>) => tools.offered.map(({ name }) => name)

describe('tools as functions', () => {
  it('are limited to those that the tool choice allows', () => {
    const tools = [tideTool, other]
    expect(names(functionTools(dialogueOf({ tools }), unlost, rule))).toEqual(['get_tide', 'other'])
    const chosen = functionTools(dialogueOf({ tools, toolChoice: { kind: 'tool', name: 'other' } }), unlost, rule)
    expect([names(chosen), chosen.choice]).toEqual([['other'], 'required'])
    const allowed = functionTools(
      dialogueOf({ tools, toolChoice: { kind: 'allowed', names: ['other'], isRequired: false } }),
      unlost,
      rule,
    )
    expect([names(allowed), allowed.choice]).toEqual([['other'], 'auto'])
    const none = functionTools(dialogueOf({ tools, toolChoice: { kind: 'none' } }), unlost, rule)
    expect([names(none), none.choice]).toEqual([[], undefined])
  })

  it('[95] [96] always have an object schema', () => {
    const tools = [
      { ...tideTool, schema: undefined },
      { ...other, schema: { properties: {} } },
    ]
    expect(functionTools(dialogueOf({ tools }), unlost, rule).offered.map(({ schema }) => schema)).toEqual([
      { type: 'object', properties: {} },
      { type: 'object', properties: {} },
    ])
  })

  it('[112] with free-text input get an object with the member `input`, in the request and in the history', () => {
    const custom = { ...tideTool, name: 'shell', schema: undefined, custom: { format: undefined } }
    const made = functionTools(dialogueOf({ tools: [custom] }), unlost, rule)
    expect(made.offered[0]?.schema).toMatchObject({ properties: { input: { type: 'string' } } })
    expect(undoing(made)).toEqual({ customTools: new Set(['shell']) })
    const call = { kind: 'tool-call' as const, callId: 'c', name: 'shell', input: 'ls -l', isCustom: true }
    expect(callObject(call)).toEqual({ input: 'ls -l' })
    expect(callText(call)).toBe('{"input":"ls -l"}')
  })

  it("[103] get a name that the upstream accepts, in the history too, and the caller's name is restored", () => {
    const long = { ...tideTool, name: 'mcp__server.tool/with a long name' }
    const made = functionTools(dialogueOf({ tools: [long], turns: [user('Hi'), ...toolTurns()] }), unlost, rule)
    const [name = ''] = names(made)
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,20}$/)
    expect(undoing(made).toolNames?.get(name)).toBe(long.name)
    expect(made.names.toUpstream('get_tide')).toBe('get_tide')
  })

  it('of the same name are merged', () => {
    expect(names(functionTools(dialogueOf({ tools: [tideTool, tideTool] }), unlost, rule))).toEqual(['get_tide'])
  })
})
