import { expect, it } from 'vitest'
import { eachDatabase } from '../helpers/databases.ts'
import { addToken, books } from '../helpers/seed.ts'
import { ask, chat, claude, httpUpstream, stage } from './stage.ts'

const reply = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: claude,
  content: [{ type: 'text', text: 'four' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 2 },
}

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`member_${at}`, 1]))

eachDatabase('a request that another protocol cannot carry whole', (_fresh, kind) => {
  it('is answered with what was lost by name, in a header and in the log; a strict token refuses it before anything is asked', async () => {
    let asked = 0
    const url = await httpUpstream((request, response) => {
      asked++
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(reply))
    })
    const { server, token } = await stage(kind, url, { channel: { type: 14, models: claude } })
    const lossy = chat({ model: claude, seed: 7, logit_bias: { 50256: -100 } })

    const answer = await ask(server, token.key, lossy)
    expect([answer.status, answer.headers.get('x-sluice-dropped')]).toEqual([200, 'logit_bias, seed'])
    const { logs } = await books(server)
    expect(JSON.parse(logs[0]?.other ?? '{}')).toMatchObject({
      dropped: ['logit_bias', 'seed'],
      upstream_format: 'anthropic.messages',
    })

    const odd = await ask(server, token.key, chat({ model: claude, 'a\r\nset-cookie: b': 1, 名: 2, ...many(500) }))
    expect(odd.status).toBe(200)
    expect(odd.headers.get('set-cookie')).toBeNull()
    expect(odd.headers.get('x-sluice-dropped')).toMatch(/^\?, a\?\?set-cookie:\?b, /)

    const strict = await addToken(server, { strict_translation: true })
    const refused = await ask(server, strict.key, lossy)
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([400, 'unsupported_parameter'])
    expect(JSON.parse(refused.text).error.message).toContain('logit_bias')
    expect(asked).toBe(2)
    const whole = await ask(server, strict.key, chat({ model: claude }))
    expect([whole.status, whole.headers.get('x-sluice-dropped')]).toEqual([200, null])
  })
})
