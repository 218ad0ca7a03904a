import { describe, expect, it } from 'vitest'
import { isComplete, type QuestionDraft, readDecision, writeQuestion } from './decisions.ts'

const draft = (given: Partial<QuestionDraft>): QuestionDraft => ({
  ...{ id: '1', kind: 'predicate', instructions: ' Is it so? ', options: 'a: first\n\n b' },
  ...given,
})

describe('questions of a decision', () => {
  it('are written with the options of their kind', () => {
    expect([draft({}), draft({ kind: 'choice' }), draft({ kind: 'score' })].map(writeQuestion)).toEqual([
      { type: 'predicate', instructions: 'Is it so?' },
      { type: 'choice', instructions: 'Is it so?', choices: [{ value: 'a', description: 'first' }, { value: 'b' }] },
      { type: 'score', instructions: 'Is it so?', levels: [{ label: 'a', description: 'first' }, { label: 'b' }] },
    ])
  })

  it('can be sent with instructions, and two options where they have options', () => {
    expect(isComplete(draft({ options: '' }))).toBe(true)
    expect(isComplete(draft({ instructions: ' ' }))).toBe(false)
    expect(isComplete(draft({ kind: 'choice', options: 'a\n' }))).toBe(false)
  })

  it('are answered with the members of each kind, or refused', () => {
    const answers = [
      { type: 'score', score: 0.5, confidence: 0.6, probabilities: [{ value: 0, label: 'low', probability: 0.6 }] },
      { type: 'choice', choice: false, probabilities: [{ value: false, probability: 1 }] },
      { type: 'refusal', name: null },
    ]
    const { answers: read, inputTokens } = readDecision(JSON.stringify({ answers, usage: { input_tokens: 7 } }))
    expect([read[0]?.score, read[0]?.options, read[1]?.choice, read[2]?.type, inputTokens]).toEqual([
      0.5,
      [{ name: 'low', probability: 0.6 }],
      'false',
      'refusal',
      7,
    ])
    expect(readDecision('no')).toEqual({ answers: [], inputTokens: undefined })
  })
})
