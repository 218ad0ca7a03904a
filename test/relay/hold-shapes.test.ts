import { expect, it } from 'vitest'
import { modelLimitsOf } from '../../src/contract/model-limits.ts'
import { serverOfTest } from '../helpers/app.ts'
import { anyDatabase, eachDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { type HoldShape, holdShapes } from './hold-shapes.ts'
import { holdStage, sendConcurrently } from './hold-stage.ts'

/** Shapes that are sent 200 times at once in the ordinary run; `npm run torture` does so with every shape. */
const crowded = new Set([
  'Chat, n of 128 without a limit',
  'Messages, Cherokee',
  'Messages, cache write of an hour',
  'Responses, no limit',
  'Messages, PDF by address',
])

anyDatabase('a hold covers what a request can cost', (_fresh, kind) => {
  it("charges the vendor's report for every shape, at most the hold, if the prompt can be bounded", async () => {
    const server = await serverOfTest(kind)
    const stage = await holdStage(server)
    const table: Record<string, number | string> = {}
    for (const shape of holdShapes) {
      const { status, text, charge, held, isCut } = await stage.once(shape)
      table[shape.name] = status !== 200 ? text.slice(0, 300) : isCut ? 'the reported usage was cut' : charge / held
    }
    const exceptions = Object.entries(table).filter(([, ratio]) => typeof ratio !== 'number' || ratio > 1)
    expect(exceptions).toEqual([])
    await requireBalancedBooks(server)
  })

  it('is the most that is charged in every dialect, however long the prompt was by the report', async () => {
    const server = await serverOfTest(kind)
    const stage = await holdStage(server)
    const open = holdShapes.filter(({ isUnbounded }) => isUnbounded)
    expect(new Set(open.map(({ path }) => path.replace(/models.*/, ''))).size).toBe(5)
    for (const shape of open) {
      const usage: typeof shape.usage = (sent) => ({ ...shape.usage(sent), prompt: 9 * shape.usage(sent).prompt })
      const { status, text, charge, held } = await stage.once({ ...shape, usage })
      expect(status, `${shape.name}: ${text}`).toBe(200)
      expect(charge, shape.name).toBe(held)
    }
    await requireBalancedBooks(server)
  })
})

anyDatabase('a hold at hosts that add to prompts', (_fresh, kind) => {
  const added = 60_000
  const withAddition = (shape: HoldShape): HoldShape => ({
    ...shape,
    usage: (sent) => ({ ...shape.usage(sent), prompt: shape.usage(sent).prompt + added }),
  })

  it('is the most that is charged for every shape, and 200 calls at once take no balance below zero', async () => {
    const server = await serverOfTest(kind)
    const stage = await holdStage(server)
    for (const shape of holdShapes.map(withAddition)) {
      const { status, text, charge, held } = await stage.once(shape)
      expect(status, `${shape.name}: ${text}`).toBe(200)
      expect(charge, shape.name).toBeLessThanOrEqual(held)
    }
    for (const shape of holdShapes.filter(({ name }) => crowded.has(name)).map(withAddition)) {
      const { left } = await sendConcurrently([server], stage, shape)
      expect(left, shape.name).toBeGreaterThanOrEqual(0)
    }
    await requireBalancedBooks(server)
  })

  it('covers what they add, where the channel says so', async () => {
    const server = await serverOfTest(kind)
    const stage = await holdStage(server, { adds_to_prompts: true })
    for (const shape of holdShapes.filter(({ path }) => /chat|responses|messages|generateContent/.test(path)).map(withAddition)) {
      const { status, text, charge, held, isCut, isAboveHold } = await stage.once(shape)
      expect(status, `${shape.name}: ${text}`).toBe(200)
      const isOverfull = shape.usage({ limit: 16 }).prompt > modelLimitsOf(shape.model).contextTokens
      if (!isOverfull)
        expect({ isCut, isAboveHold, fits: charge <= held }, shape.name).toEqual({ isCut: false, isAboveHold: false, fits: true })
    }
    await requireBalancedBooks(server)
  })
})

eachDatabase('a hold', (_fresh, kind) => {
  it('leaves no balance below zero when 200 run at once on a key that affords ten', async () => {
    const server = await serverOfTest(kind)
    const stage = await holdStage(server)
    for (const shape of holdShapes.filter(({ name }) => crowded.has(name))) {
      const { statuses, left } = await sendConcurrently([server], stage, shape)
      expect(statuses, shape.name).toContain(200)
      expect(left, shape.name).toBeGreaterThanOrEqual(0)
    }
    await requireBalancedBooks(server)
  })
})
