import { expect, it, onTestFinished } from 'vitest'
import { freshCore } from '../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { readMarks } from './read-marks.ts'

eachDatabase('marks of the overview', (fresh) => {
  it('are the incidents, alerts and running versions that began in the span, oldest first', async () => {
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
    const node = { seen_at: 400, memory_mb: 1 }
    await db
      .insertInto('nodes')
      .values([
        { ...node, name: 'a', version: '1.0.0', started_at: 50 },
        { ...node, name: 'b', version: '1.1.0', started_at: 350 },
        { ...node, name: 'c', version: '1.1.0', started_at: 340 },
      ])
      .execute()
    const same = (text: string) => ({ zh: text, en: text })
    expect((await readMarks(db, { from: 100, to: 400 })).map(({ id: _id, ...mark }) => mark)).toEqual([
      { kind: 'alert', at: 200, text: { zh: '渠道响应慢：Vendor A', en: 'Slow channel: Vendor A' } },
      { kind: 'alert', at: 250, text: same('channel:7') },
      { kind: 'incident', at: 300, text: same('Slow answers') },
      { kind: 'start', at: 340, text: same('1.1.0') },
    ])
  })
})
