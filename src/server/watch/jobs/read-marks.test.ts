import { expect, it, onTestFinished } from 'vitest'
import { freshCore } from '../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { recordDeployment } from './note-node.ts'
import { readMarks } from './read-marks.ts'

eachDatabase('marks of the overview', (fresh) => {
  it('are the incidents, alerts and versions that began in the span, oldest first', async () => {
    const { core, close } = await freshCore(fresh)
    onTestFinished(close)
    const { db } = core
    const incident = { kind: 'incident', state: 'resolved', impact: 'minor', created_by: 'root', created_at: 1 }
    await db
      .insertInto('incidents')
      .values([
        { ...incident, title: 'Slow answers', starts_at: 300 },
        { ...incident, title: 'Of another time', starts_at: 99 },
      ])
      .execute()
    const alert = { rule: 'channel-p95', subject: 'channel:7', value: 1, threshold: 1 }
    await db
      .insertInto('alerts')
      .values([
        { ...alert, name: 'Vendor A', fired_at: 200 },
        { ...alert, name: '', rule: 'of-another-version', fired_at: 250 },
        { ...alert, subject: 'channel:8', name: 'Vendor B', fired_at: 401 },
      ])
      .execute()
    const started = (version: string, at: number) => recordDeployment({ db, now: () => at * 1000 }, version)
    await started('1.0.0', 50)
    await Promise.all(Array.from({ length: 5 }, () => started('1.1.0', 340)))
    await started('1.1.0', 350)
    await started('1.0.0', 360)
    const noAlert = { subject: '', resolved_at: 0 }
    const fired = { subject: 'channel:7', resolved_at: 0 }
    const same = (text: string) => ({ zh: text, en: text })
    expect((await readMarks(db, { from: 100, to: 400 })).map(({ id: _id, ...mark }) => mark)).toEqual([
      { kind: 'alert', at: 200, text: { zh: '渠道响应慢：Vendor A', en: 'Slow channel: Vendor A' }, ...fired },
      { kind: 'alert', at: 250, text: same('channel:7'), ...fired },
      { kind: 'incident', at: 300, text: same('Slow answers'), ...noAlert },
      { kind: 'deployment', at: 340, text: same('1.1.0'), ...noAlert },
      { kind: 'deployment', at: 360, text: same('1.0.0'), ...noAlert },
    ])
  })
})
