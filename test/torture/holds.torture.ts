import { writeFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { serverOfTest, startServer, type TestServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { addToken, requireBalancedBooks } from '../helpers/seed.ts'
import { type HoldShape, holdShapes } from '../relay/hold-shapes.ts'
import { holdStage, sendConcurrently, teach } from '../relay/hold-stage.ts'
import { usualUsageOf } from '../relay/usual-usage.ts'

/** `HOLD_TABLE=file` writes the table of docs/reference/hold-shapes.md. */
const tableFile = process.env.HOLD_TABLE

eachDatabase('every shape, 200 at once on a key that affords ten', (_fresh, kind) => {
  it.each(kind === 'postgres' ? [1, 2] : [1])(
    'leaves no balance below zero on %i nodes',
    async (nodes) => {
      const redis = nodes === 2 ? await startRedis() : undefined
      if (redis) onTestFinished(() => redis.stop())
      const settings = redis ? { env: { REDIS_URL: redis.url } } : {}
      const server = await serverOfTest(kind, settings)
      const servers = [server]
      if (nodes === 2) {
        const second = await startServer(kind, { ...settings, database: server.database })
        onTestFinished(() => second.stop())
        servers.push(second)
      }
      const stage = await holdStage(server)
      const rows: string[] = []
      const ratios: Usual[] = []
      for (const shape of holdShapes) {
        // First, because a user whose own calls cost more holds more.
        const usual = await learnUsual(server, stage, shape)
        const single = await stage.once(shape)
        const { statuses, left } = await sendConcurrently(servers, stage, shape)
        const answered = statuses.filter((status) => status === 200).length
        expect(left, shape.name).toBeGreaterThanOrEqual(0)
        expect(new Set(statuses).size, `${shape.name}: ${[...new Set(statuses)]}`).toBeLessThanOrEqual(2)
        rows.push(rowOf(shape, { ...single, answered, left, usual }))
        ratios.push(usual)
      }
      await requireBalancedBooks(server)
      const closeTo = (ratio: (usual: Usual) => number) => ratios.filter((usual) => ratio(usual) <= 2).length
      const [rich, short] = [closeTo((usual) => usual.rich / usual.cost), closeTo((usual) => usual.held / usual.cost)]
      rows.push(
        '',
        `Shapes that hold at most twice their usual cost: ${rich} of ${ratios.length} on a rich balance, ${short} on a short one.`,
      )
      if (tableFile && nodes === 1 && kind === 'sqlite') writeFileSync(tableFile, `${[...heading, ...rows].join('\n')}\n`)
      expect(short).toBeGreaterThanOrEqual(Math.ceil((55 / 67) * holdShapes.length))
    },
    1_800_000,
  )
})

interface Usual {
  readonly cost: number
  /** Held on a rich balance, and on one that has twice the cost, after calls like it were learnt; infinite if it is refused. */
  readonly rich: number
  readonly held: number
}

/** The holds of a shape that is answered with its usual usage. */
async function learnUsual(server: TestServer, stage: Awaited<ReturnType<typeof holdStage>>, dearest: HoldShape): Promise<Usual> {
  const shape = { ...dearest, usage: await usualUsageOf(dearest) }
  const first = await stage.once(shape)
  await teach(server, shape)
  const small = await addToken(server, { unlimited_quota: false, remain_quota: 2 * first.charge })
  const { status, held } = await stage.once(shape, small.key)
  return { cost: first.charge, rich: first.held, held: status === 200 ? held : Number.POSITIVE_INFINITY }
}

const heading = [
  '# Holds of the hardest shapes',
  '',
  'Requests that once cost a multiple of what was held. The usual cost follows from what an honest vendor reports. A rich balance holds the',
  'highest cost; a balance of twice the usual cost holds what is learnt from 21 calls of three users, or is refused (`-`). The highest charge is that',
  'of the dearest usage that a vendor can report. The last columns are 200 calls at once on a key with ten times that charge, where the',
  'upstream ignores the output limit in a third of its answers: calls answered, and quota left. The prompts of shapes with `*` cannot be known before',
  'the call. Written by `HOLD_TABLE=docs/reference/hold-shapes.md npm run torture -- test/torture/holds.torture.ts`.',
  '',
  '| shape | usual cost | rich hold | short hold | highest charge | answered | left |',
  '|---|---|---|---|---|---|---|',
]

function rowOf(shape: HoldShape, seen: { charge: number; answered: number; left: number; usual: Usual }): string {
  const { charge, answered, left, usual } = seen
  const ofCost = (hold: number) => `${hold} (${(hold / usual.cost).toPrecision(2)})`
  const short = Number.isFinite(usual.held) ? ofCost(usual.held) : '-'
  const name = shape.isUnbounded ? `${shape.name} *` : shape.name
  return `| ${[name, usual.cost, ofCost(usual.rich), short, charge, answered, left].join(' | ')} |`
}
