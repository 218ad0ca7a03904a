import { beforeAll, beforeEach, expect, it } from 'vitest'
import { newClock } from '../../../../../test/helpers/clock.ts'
import { freshCore } from '../../../../../test/helpers/core.ts'
import { anyDatabase } from '../../../../../test/helpers/databases.ts'
import type { Core } from '../../../base/options/core.ts'
import { AnsweredModels, readOtherAnswers } from './answered-models.ts'

const hourSeconds = 3600
const call = { channelId: 1, sent: 'old', answered: 'new', charged: 10, cost: 12 }

anyDatabase('the counts of replies that name another model', (fresh) => {
  const clock = newClock()
  let core: Core

  beforeAll(async () => {
    const opened = await freshCore(fresh, { now: () => clock.nowMs })
    core = opened.core
    return opened.close
  })

  beforeEach(async () => {
    await core.db.deleteFrom('answered_models').execute()
  })

  const callsFrom = async (from: number) =>
    (await readOtherAnswers(core.db, { from, to: from + hourSeconds })).map(({ calls, difference }) => ({ calls, difference }))

  it('are in the hour of their calls, although the next call of another hour causes their writing', async () => {
    const models = new AnsweredModels(core)
    const hour = clock.nowMs / 1000
    models.note(call)
    clock.passSeconds(hourSeconds)
    models.note(call)
    models.note(call)
    await models.flush()
    expect(await callsFrom(hour)).toEqual([{ calls: 1, difference: 2 }])
    expect(await callsFrom(hour + hourSeconds)).toEqual([{ calls: 2, difference: 4 }])
  })

  it('are written after earlier ones that the database refused', async () => {
    const models = new AnsweredModels(core)
    models.note({ ...call, charged: Number.NaN })
    await expect(models.flush()).rejects.toThrow()
    models.note(call)
    await models.flush()
    expect(await callsFrom(clock.nowMs / 1000)).toEqual([{ calls: 1, difference: 2 }])
  })
})
