import { afterEach, describe, expect, it } from 'vitest'
import { testCore } from '../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import type { Core } from '../../base/options/core.ts'
import { type Job, JobRunner, type RunnerSettings } from './runner.ts'
import { jobs } from './table.ts'

describe('the list of jobs', () => {
  it('names each once, with a deadline and an interval', () => {
    expect(new Set(jobs.map(({ name }) => name)).size).toBe(jobs.length)
    for (const job of jobs) expect(job.deadlineMs).toBeGreaterThan(0)
  })
})

eachDatabase('jobs', (fresh) => {
  const cleanups: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  async function nodes(count: number): Promise<Core[]> {
    const test = await fresh()
    cleanups.push(() => test.drop())
    const all = []
    for (let index = 0; index < count; index++) {
      const database = await test.open()
      cleanups.push(() => database.close())
      all.push(await testCore(database, { node: `node-${index}` }))
    }
    return all
  }

  /** A runner whose clock the test moves, second by second. */
  function runnerOf(core: Core, list: readonly Job<Core>[], settings: RunnerSettings = {}) {
    let nowMs = 0
    const runner = new JobRunner(core, list, { now: () => nowMs, random: () => 0.5, graceMs: 20, ...settings })
    const tick = () => {
      nowMs += 1000
      runner.tick()
    }
    return {
      runner,
      tick,
      async pass(seconds: number) {
        for (let second = 0; second < seconds; second++) {
          tick()
          await runner.settled()
        }
      },
    }
  }

  async function oneNode(list: readonly Job<Core>[], settings?: RunnerSettings) {
    const [core] = await nodes(1)
    if (!core) throw new Error('unreachable')
    const lastRun = (name: string) => core.db.selectFrom('job_runs').selectAll().where('name', '=', name).executeTakeFirst()
    return { core, lastRun, ...runnerOf(core, list, settings) }
  }

  const job = (more: Partial<Job<Core>> = {}): Job<Core> => ({
    name: 'count',
    on: 'each-node',
    everyMs: () => 10_000,
    deadlineMs: 5000,
    run: async () => 'done',
    ...more,
  })

  it('run at their interval, the first time soon after the start', async () => {
    let runs = 0
    const { core, pass, lastRun } = await oneNode([job({ run: async () => `run ${++runs}` })])
    await pass(5)
    expect(runs).toBe(1)
    await pass(100)
    expect(runs).toBe(11)
    expect(await lastRun('count')).toMatchObject({ holder: core.node, outcome: 'ok', detail: 'run 11' })
    expect(await core.metrics.jobRuns.get()).toMatchObject({ values: [{ value: 11, labels: { job: 'count', outcome: 'ok' } }] })
  })

  it('start on demand, and never twice at a time, over all nodes', async () => {
    const [one, other] = await nodes(2)
    if (!one || !other) throw new Error('unreachable')
    const ends: (() => void)[] = []
    const slow = job({
      on: 'one-node',
      onDemand: true,
      everyMs: () => 0,
      run: async (_core, _signal, tell) => {
        tell('1 of 2')
        await new Promise<void>((resolve) => ends.push(resolve))
        return '2 of 2'
      },
    })
    const [here, there] = [runnerOf(one, [slow]).runner, runnerOf(other, [slow]).runner]
    const noted = () => one.db.selectFrom('job_runs').selectAll().executeTakeFirst()

    expect(await here.startNow('count')).toBe(true)
    expect([await here.startNow('count'), await there.startNow('count')]).toEqual([false, false])
    await expect.poll(noted).toMatchObject({ outcome: 'running', detail: '1 of 2', finished_at: 0, holder: one.node })
    ends[0]?.()
    await here.settled()
    expect(await noted()).toMatchObject({ outcome: 'ok', detail: '2 of 2' })

    expect(await there.startNow('count')).toBe(true)
    ends[1]?.()
    await there.settled()
    expect(ends).toHaveLength(2)
    expect(() => here.startNow('other')).toThrow('no job')
  })

  it('continue after a failure, which is recorded for the admins', async () => {
    let runs = 0
    const { pass, lastRun } = await oneNode([
      job({
        run: () => {
          runs++
          throw new Error('no luck')
        },
      }),
      job({ name: 'other' }),
    ])
    await pass(30)
    expect(runs).toBeGreaterThan(1)
    expect(await lastRun('count')).toMatchObject({ outcome: 'failed', detail: 'no luck' })
    expect(await lastRun('other')).toMatchObject({ outcome: 'ok' })
  })

  it('are aborted at their deadline', async () => {
    const { pass, lastRun } = await oneNode([
      job({
        deadlineMs: 20,
        run: (_parts, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      }),
    ])
    await pass(5)
    expect(await lastRun('count')).toMatchObject({ outcome: 'timeout', detail: 'The deadline has passed' })
  })

  it('cannot hang for ever: a job that does not end is abandoned and started again', async () => {
    let runs = 0
    const { pass, lastRun } = await oneNode([
      job({
        deadlineMs: 20,
        run: () => {
          runs++
          return new Promise(() => {})
        },
      }),
    ])
    await pass(25)
    expect(runs).toBeGreaterThan(1)
    expect(await lastRun('count')).toMatchObject({ outcome: 'timeout', detail: 'did not end when told to' })
  })

  it('never run twice at once on a node', async () => {
    let starts = 0
    let finish = () => {}
    const run = () =>
      new Promise<string>((resolve) => {
        starts++
        finish = () => resolve('')
      })
    const { runner, tick } = await oneNode([job({ everyMs: () => 1000, run })])
    for (let round = 0; round < 10; round++) tick()
    expect(starts).toBe(1)
    finish()
    await runner.settled()
    for (let round = 0; round < 10; round++) tick()
    expect(starts).toBe(2)
    finish()
    await runner.settled()
  })

  it('do not run while their interval is 0, and run again when the option changes', async () => {
    let everyMs = 0
    let runs = 0
    const { pass } = await oneNode([job({ everyMs: () => everyMs, run: async () => `${++runs}` })])
    await pass(60)
    expect(runs).toBe(0)
    everyMs = 10_000
    await pass(2)
    expect(runs).toBe(1)
  })

  it('run on one of many nodes, and on another one when it has stopped', async () => {
    const ran: string[] = []
    const shared = job({ on: 'one-node', run: async ({ node }) => String(ran.push(node)) })
    const [a, b] = (await nodes(2)).map((core) => runnerOf(core, [shared]))
    if (!a || !b) throw new Error('unreachable')
    for (let second = 0; second < 60; second++) {
      await a.pass(1)
      await b.pass(1)
    }
    expect(new Set(ran)).toEqual(new Set(['node-0']))
    expect(ran.length).toBeLessThanOrEqual(7)

    await a.runner.stop()
    await b.pass(15)
    expect(ran.at(-1)).toBe('node-1')
  })

  it('of a suspended node are taken over within a minute, and the resumed run is aborted', async () => {
    const [one, other] = await nodes(2)
    if (!one || !other) throw new Error('unreachable')
    const told: string[] = []
    const slow = job({
      on: 'one-node',
      everyMs: () => 15_000,
      deadlineMs: 120_000,
      run: ({ node }, signal) => {
        told.push(`${node} runs`)
        return new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve(String(told.push(`${node} is told: ${signal.reason}`)))),
        )
      },
    })
    const leader = runnerOf(one, [slow], { leaseMs: 1500 })
    const follower = runnerOf(other, [slow])
    for (let second = 0; second < 5; second++) leader.tick()
    await expect.poll(() => told).toEqual(['node-0 runs'])
    await follower.pass(20)
    expect(told).toEqual(['node-0 runs'])

    // As if this node had not renewed its lease.
    await one.db.updateTable('leases').set({ until_ms: 1 }).execute()
    for (let second = 0; second < 17; second++) {
      follower.tick()
      await one.db.updateTable('leases').set({ until_ms: 1 }).where('holder', '=', one.node).execute()
    }
    await expect
      .poll(() => told.slice(0, 3).sort())
      .toEqual([expect.stringContaining('node-0 is told: Error: The lease job:count was lost'), 'node-0 runs', 'node-1 runs'])
    await Promise.all([leader.runner.stop(), follower.runner.stop()])
  })

  it('that run hold their lease for no longer than half a minute without a renewal', async () => {
    const [core] = await nodes(1)
    if (!core) throw new Error('unreachable')
    const { runner, tick } = runnerOf(core, [
      job({
        on: 'one-node',
        deadlineMs: 120_000,
        run: (_parts, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('ended'))),
      }),
    ])
    for (let second = 0; second < 5; second++) tick()
    const lease = () => core.db.selectFrom('leases').selectAll().executeTakeFirst()
    await expect.poll(lease).toBeDefined()
    expect(((await lease())?.until_ms ?? 0) - Date.now()).toBeLessThanOrEqual(30_000)
    await runner.stop()
  })

  it('declared for each node run on each node', async () => {
    const ran = new Set<string>()
    const all = (await nodes(2)).map((core) => runnerOf(core, [job({ run: async ({ node }) => String(ran.add(node).size) })]))
    for (const { pass } of all) await pass(5)
    expect(ran.size).toBe(2)
  })

  it('are aborted when the server stops, and waited for', async () => {
    const run: Job<Core>['run'] = (_parts, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => setTimeout(() => resolve('cleaned up'), 5)))
    // A grace period longer than any test: on a busy machine a short one may end before the cleanup.
    const { runner, tick, lastRun } = await oneNode([job({ everyMs: () => 1000, run })], { graceMs: 60_000 })
    for (let round = 0; round < 3; round++) tick()
    await runner.stop()
    expect(await lastRun('count')).toMatchObject({ outcome: 'ok', detail: 'cleaned up' })
    for (let round = 0; round < 3; round++) tick()
    await runner.settled()
  })

  it('with the same name are refused at the start', async () => {
    const [core] = await nodes(1)
    if (!core) throw new Error('unreachable')
    expect(() => new JobRunner(core, [job(), job()])).toThrow('Two jobs are named count')
  })
})
