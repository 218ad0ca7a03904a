import { describe, expect, it } from 'vitest'
import { addChannel, requireBalancedBooks } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { caller, live, realtimeUpstream } from './realtime-stage.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, chat, claude, model } from './stage.ts'

const sharedStage = sharedStages()
const retryingStage = sharedStages('sqlite', { RetryTimes: 1 })

/** A channel with these settings, and the requests that its upstream receives. */
async function open(setting: object, more: Record<string, unknown> = {}, stageOn = sharedStage) {
  const upstream = await upstreamOfTest()
  const { ask, server } = await stageOn(upstream.url, { setting: JSON.stringify(setting), ...more })
  return { ask, server, upstream, last: () => upstream.journal.at(-1) }
}

describe('the settings of a channel', () => {
  it('change the body by rules, and leave every other byte unchanged', async () => {
    const rules = [
      { set: 'temperature', to: 0.5 },
      { default: 'top_p', to: 0.9 },
      { remove: 'user' },
      { rename: 'max_tokens', to: 'max_completion_tokens', when: { model: 'gpt-*' } },
      { set: 'seed', to: 1, when: { path: 'stream', equals: true } },
    ]
    const { ask, last } = await open({ param_override: rules })
    const sent = `{"model":"${model}","user":"me", "messages":[{"role":"user","content":"big 12345678901234567890"}],"max_tokens":9,"n":1}`
    expect((await ask(sent)).status).toBe(200)
    expect(last()?.json).toMatchObject({ temperature: 0.5, top_p: 0.9, max_completion_tokens: 9, n: 1 })
    for (const name of ['user', 'max_tokens', 'seed']) expect(last()?.json).not.toHaveProperty(name)
    expect(last()?.body.toString()).toContain(' "messages":[{"role":"user","content":"big 12345678901234567890"}]')
  })

  it('change the headers, with the key of the channel in place of {api_key}', async () => {
    const { ask, last } = await open({
      header_override: { Authorization: 'Token {api_key}', 'X-Team': 'blue', 'user-agent': null },
    })
    expect((await ask(chat())).status).toBe(200)
    expect(last()?.headers).toMatchObject({ authorization: 'Token upstream-key-0123456789', 'x-team': 'blue' })
    expect(last()?.headers['user-agent']).toBeUndefined()
  })

  it('change the headers of every other call too: counts, lists of models, balances and realtime sessions', async () => {
    const asked: string[] = []
    const answers: Record<string, object> = {
      '/v1/responses/input_tokens': { object: 'response.input_tokens', input_tokens: 17 },
      '/v1/models': { data: [{ id: 'm-1' }] },
      '/v1/dashboard/billing/subscription': { hard_limit_usd: 5 },
      '/v1/dashboard/billing/usage': { total_usage: 0 },
    }
    let counted = ''
    const { url } = await answeringUpstream(({ path, headers, bytes }) => {
      const [line = ''] = path.split('?')
      asked.push(`${line} ${headers.authorization} ${headers['x-team']}`)
      if (bytes.length > 0) counted = bytes.toString()
      return { json: answers[line] }
    })
    const setting = {
      header_override: { authorization: 'Token {api_key}', 'X-Team': 'blue' },
      system_prompt: 'be kind',
    }
    const { ask, server, channelId, token } = await sharedStage(url, { setting: JSON.stringify(setting) })
    await ask({ model, input: 'Hi' }, '/v1/responses/input_tokens')
    await server.call(`GET /api/channel/fetch_models/${channelId}`)
    await server.raw(`POST /api/channel/update_balance/${channelId}`)
    expect(asked).toEqual(Object.keys(answers).map((path) => `${path} Token upstream-key-0123456789 blue`))
    expect(JSON.parse(counted)).toMatchObject({ instructions: 'be kind' })

    const realtime = await realtimeUpstream()
    await addChannel(server, { url: realtime.url, models: live, key: 'live-key', setting: JSON.stringify(setting) })
    await caller(server.url, token.key).hears('session.created')
    expect(realtime.handshakes[0]?.headers).toMatchObject({ authorization: 'Token live-key', 'x-team': 'blue' })
  })

  it('add a system prompt in the format of the upstream request', async () => {
    const own = await open({ system_prompt: 'be kind' })
    await own.ask(chat())
    expect(own.last()?.json.messages[0]).toEqual({ role: 'system', content: 'be kind' })

    const other = await open(
      { system_prompt: 'be kind', param_override: { top_k: 7 } },
      { type: 14, models: `${model},${claude}` },
    )
    await other.ask(chat({ model: claude, messages: [{ role: 'system', content: 'be brief' }, ...chat().messages] }))
    expect(JSON.stringify(other.last()?.json.system)).toMatch(/be kind.*be brief/)
    expect(other.last()?.json).toMatchObject({ top_k: 7 })

    const filled = await open({ system_prompt: 'be kind', system_prompt_mode: 'fill' })
    await filled.ask(chat({ messages: [{ role: 'system', content: 'be brief' }, ...chat().messages] }))
    expect(filled.last()?.json.messages[0].content).toBe('be brief')
  })
})

describe('a stream without output in time', () => {
  it('fails over to another channel, and is charged once', async () => {
    const { ask, server, upstream } = await open({ first_byte_timeout_ms: 300 }, { priority: 5 }, retryingStage)
    upstream.program(model, { stallAfterEvents: 0 })
    const second = await upstreamOfTest()
    await addChannel(server, { url: second.url, models: model })
    const answer = await ask(chat({ stream: true }))
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('[DONE]')
    expect([upstream.journal.length, second.journal.length]).toEqual([1, 1])
    await requireBalancedBooks(server)
  })

  it('is not cut off once its output has begun', async () => {
    const { ask, upstream } = await open({ first_byte_timeout_ms: 1500 })
    upstream.program(model, { pauseMs: 250, words: 8 })
    const answer = await ask(chat({ stream: true }))
    expect(answer.text).toContain('[DONE]')
  })
})

describe('a stream that breaks off', () => {
  it('counts against its channel, although its caller has the partial reply', async () => {
    const { ask, server, upstream } = await open({}, { priority: 5 })
    upstream.program(model, { cutAfterEvents: 2 })
    const second = await upstreamOfTest()
    await addChannel(server, { url: second.url, models: model })
    for (let time = 0; time < 5; time++) await ask(chat({ stream: true }))
    expect((await ask(chat({ stream: true }))).text).toContain('[DONE]')
    expect([upstream.journal.length, second.journal.length]).toEqual([5, 1])
  })
})

describe('the limit of tokens per minute of a channel', () => {
  it('counts the tokens of replies', async () => {
    const { ask, upstream } = await open({ max_tokens_per_minute: 60 })
    upstream.program(model, { words: 80 })
    expect((await ask(chat())).status).toBe(200)
    expect((await ask(chat())).status).toBe(429)
  })
})
