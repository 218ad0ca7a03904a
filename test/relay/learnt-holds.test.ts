import { expect, it } from 'vitest'
import { serverOfTest } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { type HoldShape, holdShapes } from './hold-shapes.ts'
import { holdStage, send, teach } from './hold-stage.ts'
import { settledCharges } from './stage.ts'
import { usualUsageOf } from './usual-usage.ts'

const shapeOf = (name: string): HoldShape => {
  const shape = holdShapes.find((each) => each.name === name)
  if (!shape) throw new Error(`There is no shape ${name}`)
  return shape
}

/** Of every dialect: references, no limit, and texts. */
const taught = [
  'Messages, PDF by address',
  'Chat, file id',
  'Responses, no limit',
  'Gemini, recording by address',
  'Messages, tools',
]

eachDatabase('a balance of twice the cost of a call', (_fresh, kind) => {
  it('pays for it once calls like it are known, and not before', async () => {
    const server = await serverOfTest(kind)
    const stage = await holdStage(server)
    for (const name of taught) {
      const shape = { ...shapeOf(name), usage: await usualUsageOf(shapeOf(name)) }
      const first = await stage.once(shape)
      expect(first.held, name).toBeGreaterThan(2 * first.charge)
      await teach(server, shape)
      const small = await addToken(server, { unlimited_quota: false, remain_quota: 2 * first.charge })
      const { status, text, charge, held } = await stage.once(shape, small.key)
      expect(status, `${name}: ${text}`).toBe(200)
      expect(charge, name).toBe(first.charge)
      expect(held, name).toBeLessThanOrEqual(2 * charge)
    }
    await requireBalancedBooks(server)
  }, 120_000)

  it('stays above zero, and the site bears a bounded cost, when calls suddenly use all that they can', async () => {
    const server = await serverOfTest(kind)
    const stage = await holdStage(server)
    const dearest = shapeOf('Messages, PDF by address')
    const usual = { ...dearest, usage: await usualUsageOf(dearest) }
    const { charge } = await stage.once(usual)
    await teach(server, usual)

    stage.play({ ...dearest, usage: () => ({ prompt: 1_000_000, output: 16 }) })
    const token = await addToken(server, { unlimited_quota: false, remain_quota: 20 * charge })
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async () => (await send(server.url, token.key, dearest)).status),
    )
    expect(statuses).toContain(200)
    await settledCharges(server)
    const left = (await books(server)).tokens.find(({ id }) => id === token.id)?.remain_quota
    expect(left).toBeGreaterThanOrEqual(0)
    const costs = await server.app.db.selectFrom('site_costs').selectAll().where('reason', '=', 'above_hold').execute()
    expect(costs.length).toBeGreaterThan(0)
    // The next call of the user holds more: what it costs is known by then.
    expect(server.app.holdShares.riskLeft(1, 500_000)).toBeLessThan(1_000_000)
    await requireBalancedBooks(server)
  }, 120_000)
})
