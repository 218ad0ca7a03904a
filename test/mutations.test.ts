import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { mutations } from '../scripts/lib/money-mutations.mjs'

it('every fault of `npm run mutations` matches one place in the sources and names existing tests', () => {
  const broken = mutations.filter(
    ({ file, from, tests }) => readFileSync(file, 'utf8').split(from).length !== 2 || !tests.every((path) => existsSync(path)),
  )
  expect(broken.map(({ name }) => name)).toEqual([])
})
