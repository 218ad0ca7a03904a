import { describe, expect, it } from 'vitest'
import { FinishOfCalls, withFinishOfCalls } from './finish-of-calls.ts'

const calls = '"tool_calls": [ {"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]'
const choice = (index: number, message: string, reason: string) =>
  `{"index":${index},"message":{"role":"assistant",${message}},"finish_reason": "${reason}" }`
const reply = (...choices: string[]) => `{"id":"1", "choices": [${choices.join(', ')}],"n":1.0}`
const mended = (text: string) => withFinishOfCalls(Buffer.from(text))?.toString()

describe('a whole reply of Chat', () => {
  it('[51] that ends by stop although it has calls ends by tool_calls, with all other bytes as they were', () => {
    expect(mended(reply(choice(0, calls, 'stop')))).toBe(reply(choice(0, calls, 'tool_calls')))
    const text = choice(0, '"content":"Hi","tool_calls":[]', 'stop')
    expect(mended(reply(text, choice(1, `"content":"é",${calls}`, 'stop')))).toBe(
      reply(text, choice(1, `"content":"é",${calls}`, 'tool_calls')),
    )
  })

  it.each([
    ['ends by length', reply(choice(0, calls, 'length'))],
    ['already ends by tool_calls', reply(choice(0, calls, 'tool_calls'))],
    ['has no calls', reply(choice(0, '"content":"Hi","tool_calls":null', 'stop'))],
    ['has calls in its text only', reply(choice(0, `"content":${JSON.stringify(calls)}`, 'stop'))],
  ])('[264] that %s is unchanged', (_, text) => {
    expect(mended(text)).toBeUndefined()
  })
})

const delta = (members: object, finish_reason: string | null = null, index = 0) =>
  JSON.stringify({ choices: [{ index, delta: members, finish_reason }] })
const call = { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] }
const piece = { tool_calls: [{ index: 0, function: { arguments: '{}' } }] }

/** The events of a stream as they are passed on, one block for each. */
function passed(events: readonly string[], completions = 1): string[] {
  const finish = new FinishOfCalls(completions)
  return events.map((event) => {
    finish.see(`data: ${event}\n\n`)
    return finish.mend(Buffer.from(event), JSON.parse(event))?.toString() ?? event
  })
}

describe('a stream of Chat', () => {
  it('[51] that ends by stop after calls ends by tool_calls', () => {
    const events = [delta({ role: 'assistant', content: null }), delta(call), delta(piece)]
    expect(passed([...events, delta({}, 'stop')])).toEqual([...events, delta({}, 'tool_calls')])
    expect(passed([delta(call, 'stop')])).toEqual([delta(call, 'tool_calls')])
  })

  it('[264] is unchanged without calls, and with another reason', () => {
    for (const events of [
      [delta({ content: 'Hi' }), delta({}, 'stop')],
      [delta({ content: JSON.stringify(call) }), delta({}, 'stop')],
      [delta(call), delta({}, 'length')],
      [delta(call), delta({}, 'tool_calls')],
    ]) {
      expect(passed(events)).toEqual(events)
    }
  })

  it('tells the choices apart', () => {
    const events = [delta({ content: 'Hi' }, null, 0), delta(call, null, 1), delta({}, 'stop', 0)]
    expect(passed([...events, delta({}, 'stop', 1)], 2)).toEqual([...events, delta({}, 'tool_calls', 1)])
  })
})
