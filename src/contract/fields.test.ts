import { expect, it } from 'vitest'
import { blankFaults, type Fields, isShown, savedFields } from './fields.ts'

const text = (word: string) => ({ zh: word, en: word })
const fields = {
  kind: { widget: 'select', label: text('Kind'), onlyNew: true },
  title: { widget: 'text', label: text('Title'), required: text('Enter a title') },
  until: { widget: 'time', label: text('Until'), required: text('Enter a time'), when: { kind: ['planned', 'late'] } },
  groups: { widget: 'own' },
  note: { widget: 'text', label: text('Note'), required: true },
} satisfies Fields
const faultsOf = (values: object) => blankFaults(fields, values, ({ en }) => en)

it('a field is shown while the values that it depends on are among those that it names', () => {
  expect(isShown(fields.until, { kind: 'late' })).toBe(true)
  expect(isShown(fields.until, { kind: 'open' })).toBe(false)
  expect(isShown(fields.title, {})).toBe(true)
})

it('a required field is reported with its own text, if it is shown and blank', () => {
  expect(faultsOf({ kind: 'open', title: '  ' })).toEqual({ title: 'Enter a title' })
  expect(faultsOf({ kind: 'planned', title: 'a', until: undefined })).toEqual({ until: 'Enter a time' })
  expect(faultsOf({ kind: 'planned', title: 'a', until: Number.NaN })).toEqual({ until: 'Enter a time' })
  expect(faultsOf({ kind: 'planned', title: 'a', until: 0 })).toEqual({})
  expect(faultsOf({ kind: 'open', title: [] })).toEqual({ title: 'Enter a title' })
})

it('the form of a saved entity has all fields but those of a new one, in the same order', () => {
  expect(Object.keys(savedFields(fields))).toEqual(['title', 'until', 'groups', 'note'])
})
