import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SystemJob } from '../../src/contract/entities/system.ts'
import { openDatabase } from '../../src/server/base/db/open.ts'
import { serverOfTest } from '../helpers/app.ts'
import { freshDatabase } from '../helpers/databases.ts'
import { freePort } from '../helpers/free-port.ts'
import { hasHaproxy, startHaproxy } from '../helpers/haproxy.ts'
import { fillWithLog } from '../helpers/long-log.ts'
import { hasNginx, startNginx } from '../helpers/nginx.ts'
import { builtServer, hasHistory } from '../helpers/older-version.ts'
import { furnish, startPacedCallers } from '../helpers/paced-callers.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { model, settledCharges } from '../relay/stage.ts'

/**
 * Two nodes of an older version, with a long log on PostgreSQL, are replaced by this version beside calls: UPGRADE_FROM (commits), UPGRADE_ROWS (300,000), and
 * UPGRADE_RATE calls a second (20).
 */
const versions = (process.env.UPGRADE_FROM ?? 'e33638f1,ec8f80c0,d111a08b').split(',')
const rows = Number(process.env.UPGRADE_ROWS ?? 300_000)
const rate = Number(process.env.UPGRADE_RATE ?? 20)
/** The time that a balancer takes to notice a node that is back. */
const noticeMs = 2000
const jobs = ['build-indexes', 'partition-log']

const balancers = Object.entries({ haproxy: hasHaproxy ? startHaproxy : undefined, nginx: hasNginx ? startNginx : undefined })
const cases = versions.flatMap((version) => balancers.map(([name, start]) => [version, name, start] as const))

describe.skipIf(!hasHistory)(`a site with ${rows} log rows`, () => {
  it.each(cases)(
    'is upgraded from %s, node by node behind %s, and no call is lost',
    async (version, _name, start) => {
      if (!start) return
      const before = builtServer(version)
      const upstream = await upstreamOfTest({ programs: { [model]: { words: 20, pauseMs: 20 } } })
      const database = await freshDatabase('postgres', 'empty')
      onTestFinished(() => database.drop())
      const ports = [await freePort(), await freePort()]
      const envOf = (index: number) => ({ PORT: String(ports[index]), DRAIN_DELAY: '4' })
      const nodes: ServerProcess[] = [await startProcess(database, envOf(0), before)]
      onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.kill('SIGKILL')))))
      const key = await furnish(nodes[0] as ServerProcess, upstream.url)
      const filled = await openDatabase(database.env)
      await fillWithLog(filled, rows)
      await filled.close()
      nodes.push(await startProcess(database, envOf(1), before))
      const balancer = await start(nodes.map(({ url }) => url))
      onTestFinished(() => balancer.stop())

      const load = startPacedCallers({ url: balancer.url, key, perSecond: rate, streamOneIn: 3 })
      await expect.poll(() => load.whole.size).toBeGreaterThan(rate)
      for (const index of nodes.keys()) {
        expect(await nodes[index]?.kill('SIGTERM')).toBe(0)
        nodes[index] = await startProcess(database, envOf(index))
        await pause(noticeMs)
      }
      const startedAt = performance.now()
      await expect.poll(() => unfinishedJobs(nodes[0]), { timeout: 20 * 60_000, interval: 500 }).toEqual([])
      const onlineMs = performance.now() - startedAt
      await load.stop()
      console.log(
        `${version}: ${load.whole.size} whole answers, ${load.failures.length} failures; online work ended ${Math.round(onlineMs / 1000)} s after the last start`,
      )
      expect(load.failures).toEqual([])
      for (const node of nodes) expect(await node.kill('SIGTERM')).toBe(0)

      const after = await serverOfTest('postgres', { database })
      const charged = (await settledCharges(after)).map(({ id }) => id).filter((id) => load.whole.has(id))
      expect(charged.length).toBe(load.whole.size)
      expect(new Set(charged)).toEqual(load.whole)
    },
    30 * 60_000,
  )
})

/** The online jobs that have something left to do, or have not run yet. */
async function unfinishedJobs(node: ServerProcess | undefined): Promise<string[]> {
  const all = await node?.call<SystemJob[]>('GET /api/job/')
  return jobs.filter((name) => {
    const job = all?.find((one) => one.name === name)
    return job?.outcome !== 'ok' || job.detail.startsWith('waiting')
  })
}
