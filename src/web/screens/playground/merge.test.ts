import { expect, it } from 'vitest'
import { mergedTurns } from './merge.ts'
import type { Answer, Turn } from './turns.ts'

const answer = (id: string, content = '', lane = 0): Answer => ({ id, lane, model: 'm', state: 'complete', content })
const turn = (id: string, ...answers: Answer[]): Turn => ({ id, question: id, pictures: [], answers })
const copy = <Value>(value: Value): Value => structuredClone(value)
const shown = (turns: readonly Turn[]) => turns.map(({ id, answers }) => [id, ...answers.map(({ content }) => content)].join(' '))

const a = turn('a', answer('1', 'one', 0), answer('2', 'two', 1))
const b = turn('b', answer('3', 'three'))

it('keeps the questions of two tabs, in the order in which they were asked', () => {
  const theirs = [...copy([a, b]), turn('c', answer('4', 'theirs'))]
  const mine = [a, b, turn('d', answer('5', 'mine'))]
  expect(shown(mergedTurns({ base: [a, b], mine, theirs }))).toEqual(['a one two', 'b three', 'c theirs', 'd mine'])
  // The other tab gets the same result.
  expect(shown(mergedTurns({ base: [a, b], mine: theirs, theirs: mine }))).toEqual(['a one two', 'b three', 'c theirs', 'd mine'])
})

it('takes each answer of a turn from the tab that writes it', () => {
  const theirs = copy([turn('a', answer('1', 'one and more'), answer('2', 'two', 1)), b])
  const mine = [turn('a', a.answers[0] ?? answer(''), answer('2', 'two and more', 1)), b]
  expect(shown(mergedTurns({ base: [a, b], mine, theirs }))).toEqual(['a one and more two and more', 'b three'])
})

it('removes what one tab has removed, unless the other continued it', () => {
  expect(shown(mergedTurns({ base: [a, b], mine: [a, b], theirs: copy([a]) }))).toEqual(['a one two'])
  expect(shown(mergedTurns({ base: [a, b], mine: [b], theirs: copy([a, b]) }))).toEqual(['b three'])
  const going = turn('b', answer('3', 'three and more'))
  expect(shown(mergedTurns({ base: [a, b], mine: [a, going], theirs: copy([a]) }))).toEqual(['a one two', 'b three and more'])
  const retried = turn('a', answer('6', 'anew'), a.answers[1] ?? answer(''))
  expect(shown(mergedTurns({ base: [a], mine: [retried], theirs: copy([a]) }))).toEqual(['a anew two'])
})
