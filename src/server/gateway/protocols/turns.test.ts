import { describe, expect, it } from 'vitest'
import { assistant, call as callOf, dialogueOf, instruction, result, thought, user } from '../../../../test/helpers/dialogue.ts'
import type { Dialogue, Part, Turn } from './dialogue.ts'
import { endingAnswerably, type LastTurn, mergeTurns, repairToolResults } from './turns.ts'

const call = (callId: string, name = 'look') => callOf(callId, { name, input: '{}' })

/** A summary of the turns: `c:` is a call, `r:` a result with its text. */
function shape(turns: readonly Turn[]): string[] {
  const word = (part: Part) => {
    if (part.kind === 'tool-call') return `c:${part.callId}`
    if (part.kind === 'tool-result') return `r:${part.callId}=${part.parts.map((inner) => 'text' in inner && inner.text).join()}`
    return 'text' in part ? part.text : part.kind
  }
  return turns.map(({ role, parts }) => `${role} ${parts.map(word).join(' ')}`)
}

describe('merging turns', () => {
  it('joins neighbours of one role and leaves out empty turns', () => {
    expect(shape(mergeTurns([user('a'), user(), user('b'), assistant('c')]))).toEqual(['user a b', 'assistant c'])
  })

  it('[79] [80] combines the results of parallel calls into one turn', () => {
    expect(shape(mergeTurns([user(result('1', 'x')), user(result('2', 'y')), user(result('3', 'z'))]))).toEqual([
      'user r:1=x r:2=y r:3=z',
    ])
  })

  it('[81] [82] puts results before everything else of a turn', () => {
    expect(shape(mergeTurns([user('first', result('1', 'x')), user('then')]))).toEqual(['user r:1=x first then'])
  })

  it('names the speaker where the format has no names', () => {
    expect(shape(mergeTurns([{ ...user('hello'), name: 'ann' }, user('so?')]))).toEqual(['user ann: hello so?'])
  })

  // Quadratic time would exceed the test's timeout.
  it('[183] takes linear time in the number of turns', () => {
    const turns = Array.from({ length: 40_000 }, (_, at) => (at % 2 ? assistant(call('same')) : user(result('same', 'x'))))
    expect(mergeTurns(repairToolResults(turns)).length).toBeGreaterThan(0)
  })
})

describe('repairing the results of tools', () => {
  it('leaves matching calls and results unchanged', () => {
    const turns = [user('a'), assistant(call('1'), call('2')), user(result('1', 'x'), result('2', 'y'))]
    expect(shape(repairToolResults(turns))).toEqual(['user a', 'assistant c:1 c:2', 'user r:1=x r:2=y'])
  })

  it('[83] drops a result whose call was cut off', () => {
    expect(shape(repairToolResults([user(result('9', 'x'), 'go on')]))).toEqual(['user go on'])
    expect(shape(repairToolResults([user(result('9', 'x')), assistant('b')]))).toEqual(['assistant b'])
  })

  it('[84] adds a placeholder where a result is missing', () => {
    expect(shape(repairToolResults([assistant(call('1')), user('never mind')]))).toEqual([
      'assistant c:1',
      'user r:1=(no result) never mind',
    ])
    expect(shape(repairToolResults([assistant(call('1')), assistant('b')]))).toEqual([
      'assistant c:1',
      'user r:1=(no result)',
      'assistant b',
    ])
    expect(repairToolResults([assistant(call('1'))]).at(-1)?.parts[0]).toMatchObject({ callId: '1', isError: true })
  })

  it('treats calls in consecutive turns of the model as parallel calls', () => {
    const turns = [assistant('a', call('1')), assistant(call('2')), user(result('1', 'x')), user(result('2', 'y'))]
    expect(shape(mergeTurns(repairToolResults(turns)))).toEqual(['assistant a c:1 c:2', 'user r:1=x r:2=y'])
  })

  it('moves results after their calls, in the order of the calls', () => {
    const turns = [assistant(call('1'), call('2')), user(result('2', 'y')), instruction('s')]
    expect(shape(repairToolResults([...turns, user(result('1', 'x'), 'a')]))).toEqual([
      'assistant c:1 c:2',
      'user r:1=x r:2=y',
      'system s',
      'user a',
    ])
  })

  it('gives calls that share an id distinct ids, and matches their results in order', () => {
    const turns = [assistant(call('1'), call('1')), user(result('1', 'x'), result('1', 'y'))]
    expect(shape(repairToolResults(turns))).toEqual(['assistant c:1 c:1_2', 'user r:1=x r:1_2=y'])
    const taken = [assistant(call('1'), call('1'), call('1_2')), user(result('1', 'x'), result('1_2', 'z'), result('1', 'y'))]
    expect(shape(repairToolResults(taken))).toEqual(['assistant c:1 c:1_3 c:1_2', 'user r:1=x r:1_3=y r:1_2=z'])
  })

  it('[77] matches calls without ids by name and order', () => {
    const turns = [
      assistant(call('', 'a'), call('', 'b')),
      user({ ...result('', 'of b'), name: 'b' }, { ...result('', 'of a'), name: 'a' }),
    ]
    expect(shape(repairToolResults(turns))).toEqual(['assistant c:call_1 c:call_2', 'user r:call_1=of a r:call_2=of b'])
  })

  it('gives each result the name and the kind of its call', () => {
    const custom = { ...call('1', 'shell'), isCustom: true }
    expect(repairToolResults([assistant(custom), user(result('1', 'x'))])[1]?.parts[0]).toMatchObject({
      name: 'shell',
      isCustom: true,
    })
  })
})

describe('the end of a conversation', () => {
  const ended = (turns: readonly Turn[], takes: LastTurn, more: Partial<Dialogue> = {}) => {
    const lost: string[] = []
    const context = { lose: (name: string) => void lost.push(name) }
    return { turns: shape(endingAnswerably(dialogueOf(more), context, { turns, takes })), lost }
  }
  const signed = thought('Hm', { family: 'anthropic', kind: 'signature', value: 's' })

  it.each<LastTurn>(['begins', 'complete', 'refused'])(
    'has no reasoning behind the last content, which is reported (%s)',
    (takes) => {
      const left = { turns: ['user a'], lost: ['messages.last'] }
      expect(ended([user('a'), assistant(signed)], takes)).toEqual(left)
      expect(ended([user('a'), assistant(signed), assistant(' ', signed)], takes)).toEqual(left)
      expect(ended([assistant(signed)], takes).turns).toEqual([])
      const called = [user('a'), assistant(signed, call('1')), user(result('1', 'x'))]
      expect(ended([...called, assistant(signed)], takes).turns).toEqual(shape(called))
      expect(ended(called, takes).lost).toEqual([])
    },
  )

  it('keeps reasoning before the last content', () => {
    expect(ended([user('a'), assistant(signed, 'b', signed)], 'complete')).toEqual({
      turns: ['user a', 'assistant Hm b'],
      lost: ['messages.last'],
    })
  })

  it('is a request to continue after content of the model, unless the model takes it for complete', () => {
    const turns = [user('a'), assistant('b')]
    for (const takes of ['begins', 'refused'] as const) {
      expect(ended(turns, takes)).toEqual({ turns: ['user a', 'assistant b', 'user Continue.'], lost: ['messages.last'] })
    }
    expect(ended(turns, 'complete')).toEqual({ turns: ['user a', 'assistant b'], lost: [] })
  })

  it('is the beginning of the answer where the caller wrote it, which the model has to continue', () => {
    const turns = [user('a'), assistant('b', signed)]
    const begun = { beginsAnswer: true, from: 'anthropic.messages' } as const
    expect(ended(turns, 'begins', begun).turns).toEqual(['user a', 'assistant b'])
    for (const takes of ['complete', 'refused'] as const) expect(() => ended(turns, takes, begun)).toThrow('messages')
    expect(ended([user('a')], 'refused', begun)).toEqual({ turns: ['user a'], lost: [] })
  })
})
