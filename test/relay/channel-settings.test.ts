import { expect, it } from 'vitest'
import { eachDatabase } from '../helpers/databases.ts'
import { chat, claude, completion, httpUpstream, model, stage } from './stage.ts'

eachDatabase('what a channel changes in a request', (_fresh, kind) => {
  async function asked(channel: Record<string, unknown>, body: unknown, reply = completion()) {
    const seen: { body: Record<string, unknown>; headers: Record<string, unknown> }[] = []
    const url = await httpUpstream((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => {
        text += chunk
      })
      request.on('end', () => {
        seen.push({ body: JSON.parse(text) as Record<string, unknown>, headers: request.headers })
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(reply)
      })
    })
    const { ask } = await stage(kind, url, { channel })
    const answer = await ask(body)
    expect(answer.status).toBe(200)
    return { ...seen[0], answer }
  }

  const setting = (value: object) => JSON.stringify(value)

  it('reaches its upstream: rules for members, headers, and instructions of its own', async () => {
    const { body, headers } = await asked(
      {
        setting: setting({
          param_override: [
            { set: 'temperature', to: 0.5 },
            { remove: 'user' },
            { rename: 'max_tokens', to: 'max_completion_tokens' },
            { default: 'top_p', to: 0.9, when: { model: 'other-*' } },
          ],
          header_override: { 'x-team': 'blue', authorization: 'Key {api_key}' },
          system_prompt: 'Be brief.',
        }),
      },
      chat({ temperature: 2, user: 'ada', max_tokens: 5 }),
    )
    expect(body).toEqual({
      model,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'one two three' },
      ],
      temperature: 0.5,
      max_completion_tokens: 5,
    })
    expect(headers).toMatchObject({ 'x-team': 'blue', authorization: 'Key upstream-key-0123456789' })
  })

  it('holds for requests that are carried to another protocol, too', async () => {
    const reply = JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: claude,
      content: [{ type: 'text', text: 'four' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 10, output_tokens: 2 },
    })
    const { body } = await asked(
      {
        type: 14,
        models: claude,
        setting: setting({ param_override: [{ set: 'top_k', to: 7 }], system_prompt: 'Be brief.' }),
      },
      chat({ model: claude }),
      reply,
    )
    expect(body).toMatchObject({ top_k: 7, system: 'Be brief.', model: claude })
  })

  it('[162] thinking becomes a part of the text where the channel says so', async () => {
    const thinking = completion({
      choices: [{ index: 0, message: { role: 'assistant', content: 'four', reasoning_content: 'hm' }, finish_reason: 'stop' }],
    })
    const { answer } = await asked({ setting: setting({ thinking_to_content: true }) }, chat(), thinking)
    expect(JSON.parse(answer.text).choices[0].message.content).toBe('<think>\nhm\n</think>\nfour')
    const plain = await asked({ setting: setting({ thinking_to_content: true }) }, chat())
    expect(JSON.parse(plain.answer.text).choices[0].message.content).toBe('four five six')
  })
})
