import { mkdtempSync, readFileSync, renameSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { AccessLog } from '../../src/server/usage/calls/access-log.ts'
import { serverOfTest } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { endedCall } from '../helpers/ended-call.ts'
import { answeringUpstream, ask, chat, completion, eventually, model, stage, upstreamKey } from './stage.ts'

const newPath = () => join(mkdtempSync(join(tmpdir(), 'sluice-access-')), 'access.log')

const linesOf = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

const exists = (path: string, lines: number) => async () => {
  try {
    return linesOf(path).length >= lines
  } catch {
    return false
  }
}

anyDatabase('the access log', (_fresh, kind) => {
  it('has one line for each call with a known key, and contains no key', async () => {
    const path = newPath()
    const { url } = await answeringUpstream(completion())
    const { server, token, channelId } = await stage(kind, url, { server: { env: { ACCESS_LOG: path } } })
    const planted = 'sk-plantedsecretplantedsecret'
    await ask(server, 'sk-unknown', chat())
    const told = await ask(server, token.key, chat(), `/v1/chat/completions?key=${token.key}`, {
      'user-agent': `agent ${planted}`,
    })
    await ask(server, token.key, chat({ model: 'line\nbreak\u2028' }))
    await eventually('two lines are written', exists(path, 2))
    const text = readFileSync(path, 'utf8')
    for (const secret of [token.key, planted, upstreamKey]) expect(text).not.toContain(secret)
    expect(text).not.toContain('\u2028')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const lines = linesOf(path)
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatchObject({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      request_id: told.headers.get('x-request-id'),
      status: 200,
      method: 'POST',
      path: '/v1/chat/completions',
      format: 'openai.chat',
      model,
      stream: false,
      user_id: 1,
      token_name: 'test',
      group: 'default',
      address: '127.0.0.1',
      tokens_in: 11,
      tokens_out: 7,
      attempts: [{ channel: channelId, status: 200, model }],
    })
    expect(lines[1]).toMatchObject({ status: 404, code: 'model_not_found', model: 'line\nbreak\u2028', attempts: [] })
  })
})

it('the access log continues in a new file when its file was renamed', async () => {
  const path = newPath()
  const { app } = await serverOfTest('sqlite', { env: { ACCESS_LOG: path } })
  app.callObservers.callEnded(endedCall({ id: 'one' }))
  await eventually('the first line is written', exists(path, 1))
  renameSync(path, `${path}.1`)
  app.callObservers.callEnded(endedCall({ id: 'two' }))
  await eventually('the second line is written', exists(path, 1))
  expect([linesOf(`${path}.1`), linesOf(path)]).toMatchObject([[{ request_id: 'one' }], [{ request_id: 'two' }]])
})

it('the access log drops and counts lines that cannot be written, within bounded memory, and logs one error', async () => {
  const { app } = await serverOfTest('sqlite')
  const errors: unknown[] = []
  const logger = { error: (...given: unknown[]) => void errors.push(given) }
  const log = new AccessLog({ logger, metrics: app.metrics }, '/dev/full')
  const calls = 20_000
  for (let nth = 0; nth < calls; nth++) log.callEnded(endedCall({ userAgent: 'x'.repeat(200) }))
  await log.close()
  log.callEnded(endedCall())
  await log.close()
  const text = await app.metrics.registry.metrics()
  expect(text).toContain(`sluice_access_log_dropped_total ${calls + 1}\n`)
  expect(errors).toHaveLength(1)
})

it('there is no access log by default', async () => {
  const { app } = await serverOfTest('sqlite')
  expect(await app.metrics.registry.metrics()).not.toContain('sluice_access_log')
})
