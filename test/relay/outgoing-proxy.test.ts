import { createServer } from 'node:https'
import { expect, it, onTestFinished } from 'vitest'
import type { Env } from '../../src/server/base/env.ts'
import { doctorCommand } from '../../src/server/run/commands/doctor.ts'
import { authority, certificates, leafKey } from '../helpers/certificates-of-upstreams.ts'
import { type ConnectProxy, connectProxy } from '../helpers/connect-proxy.ts'
import { testMasterKey } from '../helpers/core.ts'
import { freePort } from '../helpers/free-port.ts'
import { closing, listeningPort } from '../helpers/listening.ts'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { runCommand } from '../helpers/sluice.ts'
import { answering, caller, live, realtimeUpstream } from './realtime-stage.ts'
import { ask, chat, completion, event, eventually, httpUpstream, model, piece, stage } from './stage.ts'

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
const streamed = piece('four') + piece('', 'stop') + event({ id: 'c', model, choices: [], usage }) + event('[DONE]')

/** A vendor over TLS, whose certificate is for the name `upstream.test`. */
async function vendor() {
  const connections = { count: 0 }
  const server = createServer({ key: leafKey, cert: certificates.good }, (request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const isStream = body.includes('"stream":true')
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
      response.end(isStream ? streamed : completion())
    })
  })
  server.on('secureConnection', () => connections.count++)
  onTestFinished(() => void closing(server))
  return { port: await listeningPort(server), connections }
}

const stageBehind = (url: string, env: Partial<Env>) =>
  stage('sqlite', url, { server: { env, upstream: { certificates: authority } } })

const portIn = (url: string) => Number(new URL(url).port)
const targetsOf = ({ asked }: ConnectProxy) => asked.map(({ target }) => target)

it('whole and streamed calls to channels go through the proxy of the environment, over one kept connection', async () => {
  const { port, connections } = await vendor()
  const proxy = await connectProxy(() => port, { login: 'ann:secret' })
  const { ask: asks } = await stageBehind('https://upstream.test', { HTTPS_PROXY: proxy.url })
  for (const stream of [false, true, false]) {
    const { status, text } = await asks(chat({ stream }))
    expect([status, text.includes(stream ? 'four' : 'four five six')]).toEqual([200, true])
  }
  expect(targetsOf(proxy)).toEqual(['upstream.test:443'])
  expect(connections.count).toBe(1)
})

it('realtime sessions go through it, too', async () => {
  const realtime = await realtimeUpstream(answering())
  const proxy = await connectProxy(() => portIn(realtime.url))
  const { server, token } = await stageBehind('http://upstream.test', { HTTP_PROXY: proxy.url })
  await addChannel(server, { url: 'http://upstream.test', models: live })
  const talk = caller(server.url, token.key, { headers: { authorization: `Bearer ${token.key}` } })
  await talk.hears('session.created')
  talk.say({ type: 'response.create' })
  await talk.hears('response.done')
  talk.socket.close()
  expect(targetsOf(proxy)).toEqual(['upstream.test:80'])
  expect(realtime.handshakes[0]?.headers.host).toBe('upstream.test')
})

it('hosts in NO_PROXY are reached directly', async () => {
  const url = await httpUpstream((_request, response) => void response.end(completion()))
  const proxy = await connectProxy(() => 0)
  const name = `direct.test:${portIn(url)}`
  const { server, token } = await stage('sqlite', `http://${name}`, {
    server: {
      env: { HTTP_PROXY: proxy.url, NO_PROXY: '.direct.test' },
      upstream: { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
    },
  })
  expect((await ask(server, token.key, chat())).status).toBe(200)
  expect(proxy.asked).toEqual([])
})

it('the failure of a proxy is told to admins by its host and port, to callers as a channel that is unreachable, and another channel answers', async () => {
  const proxy = await connectProxy(() => 0, { login: 'ann:secret' })
  const down = `127.0.0.1:${await freePort()}`
  const { server, token } = await stageBehind('http://upstream.test', {
    HTTP_PROXY: `http://ann:wrong-secret@${proxy.host}`,
  })
  const { status, text } = await ask(server, token.key, chat())
  expect(status).toBe(502)
  for (const hidden of ['127.0.0.1', '407', 'secret', 'upstream.test']) expect(text).not.toContain(hidden)
  const refused = `the proxy at ${proxy.host} refused CONNECT with 407`
  const rows = () => server.app.db.selectFrom('logs').select('other').where('type', '=', 5).execute()
  await eventually('the call has a row', async () => (await rows()).length === 1)
  const [row] = await rows()
  expect(row?.other).toContain(`unreachable: ${refused}`)
  expect(row?.other).not.toContain('secret')

  const answered = await httpUpstream((_request, response) => void response.end(completion()))
  await addChannel(server, { url: answered, models: model, priority: -1 })
  await setOptions(server, { RetryTimes: 1 })
  expect((await ask(server, token.key, chat())).status).toBe(200)

  const unreachable = await stageBehind('https://upstream.test', { HTTPS_PROXY: `http://${down}` })
  const tested = await unreachable.server.raw(`GET /api/channel/test/${unreachable.channelId}`)
  expect(await tested.text()).toContain(`the proxy at ${down} could not be reached (ECONNREFUSED)`)
})

it('doctor says whether the proxies can be reached, and what they answer for a channel', async () => {
  const proxy = await connectProxy(() => 0, { login: 'ann:secret' })
  const { server, channelId } = await stageBehind('http://upstream.test', {})
  const down = `127.0.0.1:${await freePort()}`
  const { database } = server
  const run = async (env: Record<string, string>) => {
    const all = { ...database.env, MASTER_KEY: testMasterKey.toString('base64'), PORT: '0', ...env }
    return (await runCommand(doctorCommand, [], all)).output
  }
  const found = await run({ http_proxy: `http://ann:wrong-secret@${proxy.host}`, HTTPS_PROXY: down, NO_PROXY: 'inner.test' })
  expect(found).toContain(`ok      Outgoing proxy: HTTP_PROXY: ${proxy.host} accepts connections, but for inner.test\n`)
  expect(found).toContain(
    `FAILED  Outgoing proxy: HTTPS_PROXY: the proxy at ${down} could not be reached (ECONNREFUSED)\n        Correct HTTPS_PROXY`,
  )
  expect(found).toContain(
    `FAILED  Channel ${channelId}: test: http://upstream.test: the address could not be reached (the proxy at ${proxy.host} refused CONNECT with 407)\n`,
  )
  expect(found).not.toContain('secret')
  expect(await run({ HTTPS_PROXY: 'ftp://ann:secret@host' })).toMatch(
    /FAILED {2}Settings: HTTPS_PROXY: must be empty or begin with http:\/\//,
  )
})
