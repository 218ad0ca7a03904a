import { expect, it, onTestFinished, vi } from 'vitest'
import type { Delivery } from '../../src/contract/entities/destination.ts'
import { freshDatabase } from '../helpers/databases.ts'
import { freePort } from '../helpers/free-port.ts'
import { startProcess } from '../helpers/process.ts'
import { setOptions } from '../helpers/seed.ts'
import { startSmtpServer } from '../helpers/smtp-server.ts'
import { startFakeUpstream } from '../helpers/upstream.ts'
import { allServe, killOne } from '../helpers/workers.ts'
import { ask, chat } from '../relay/stage.ts'

// Several nodes in one process are tested in test/alerts; here they are processes of one start, and one of them dies.

const workers = 2

it('an alert of several processes (WORKERS) is sent once, also when the process that decides is killed', async () => {
  const smtp = await startSmtpServer({ security: 'none' })
  const upstream = await startFakeUpstream({ programs: { failing: () => ({ status: 500 }) } })
  const database = await freshDatabase('sqlite')
  const server = await startProcess(database, { WORKERS: String(workers), PORT: String(await freePort()) })
  onTestFinished(async () => {
    await server.kill('SIGKILL')
    await upstream.stop()
    await smtp.stop()
    await database.drop()
  })
  const mail = {
    SMTPServer: '127.0.0.1',
    SMTPPort: String(smtp.port),
    SMTPAccount: 'robot@site.test',
    ModelRatio: '{"failing":1}',
  }
  await setOptions(server, mail)
  await allServe(server, workers)
  const channel = { name: 'bad', type: 1, key: 'bad', base_url: upstream.url, models: 'failing', auto_ban: 0 }
  await server.call('POST /api/channel/', channel)
  const input = { kind: 'mail', name: 'on call', settings: { to: 'ops@example.com' } }
  const { id } = await server.call<{ id: number }>('POST /api/alert/destination/', input)
  const settings = { enabled: true, params: {}, scope: [], destinations: [id], repeat_seconds: 0, notify_recovery: false }
  await server.call('PUT /api/alert/rule/breaker-open', settings)

  const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })
  for (let call = 0; call < 30; call++) await ask(server, `sk-${key}`, chat({ model: 'failing' }))
  const evaluate = () => server.call('POST /api/job/evaluate-alerts/run').catch(() => undefined)
  const sent = async () => (await server.call<{ items: Delivery[] }>('GET /api/alert/delivery/')).items
  // Each process reports its breakers every twenty seconds.
  const waiting = { timeout: 60_000, interval: 1000 }
  await vi.waitFor(async () => {
    await evaluate()
    expect(await sent()).toMatchObject([{ type: 'alert.fired', state: 'sent' }])
  }, waiting)
  await killOne(server, 'owner', workers)
  await vi.waitFor(async () => expect(await evaluate()).not.toBeUndefined(), waiting)
  expect(await sent()).toMatchObject([{ type: 'alert.fired', state: 'sent', attempts: 1 }])
  expect(smtp.mails.map(({ recipients }) => recipients)).toEqual([['ops@example.com']])
})
