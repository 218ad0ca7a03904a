import { writeFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { serverOfTest, startServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { type HoldShape, holdShapes } from '../relay/hold-shapes.ts'
import { holdStage, sendConcurrently } from '../relay/hold-stage.ts'

/** `HOLD_TABLE=file` writes the table of docs/reference/hold-shapes.md. */
const tableFile = process.env.HOLD_TABLE

eachDatabase('every shape, 200 at once on a key that affords ten', (_fresh, kind) => {
  it.each(kind === 'postgres' ? [1, 2] : [1])(
    'leaves no balance below zero on %i nodes',
    async (nodes) => {
      const server = await serverOfTest(kind)
      const servers = [server]
      if (nodes === 2) {
        const second = await startServer(kind, { database: server.database })
        onTestFinished(() => second.stop())
        servers.push(second)
      }
      const stage = await holdStage(server)
      const rows: string[] = []
      for (const shape of holdShapes) {
        const single = await stage.once(shape)
        const { statuses, left } = await sendConcurrently(servers, stage, shape)
        const answered = statuses.filter((status) => status === 200).length
        expect(left, shape.name).toBeGreaterThanOrEqual(0)
        expect(new Set(statuses).size, `${shape.name}: ${[...new Set(statuses)]}`).toBeLessThanOrEqual(2)
        rows.push(rowOf(shape, { ...single, answered, left }))
      }
      await requireBalancedBooks(server)
      if (tableFile && nodes === 1 && kind === 'sqlite') writeFileSync(tableFile, `${[...heading, ...rows].join('\n')}\n`)
    },
    1_800_000,
  )
})

const heading = [
  '# Holds of the hardest shapes',
  '',
  'Requests that once cost a multiple of what was held, each answered with the dearest usage that a vendor can report. R is charge / hold of',
  'one call on a rich account. The last columns are 200 calls at once on a key with ten times the real cost, where the upstream',
  'ignores the output limit in a third of its answers: calls answered, and quota left. Only the prompts of unbounded shapes cannot be known before',
  'the call: they hold the whole context or all that is free, and the balance can end below zero by one call. Written by',
  '`HOLD_TABLE=docs/reference/hold-shapes.md npm run torture -- test/torture/holds.torture.ts`.',
  '',
  '| shape | bounded | hold | charge | R | answered of 200 | left |',
  '|---|---|---|---|---|---|---|',
]

function rowOf(shape: HoldShape, seen: { held: number; charge: number; answered: number; left: number }): string {
  const { held, charge, answered, left } = seen
  const ratio = (charge / held).toPrecision(2)
  return `| ${shape.name} | ${shape.isUnbounded ? 'no' : 'yes'} | ${held} | ${charge} | ${ratio} | ${answered} | ${left} |`
}
