import { expect, it } from 'vitest'
import { eachDatabase } from '../helpers/databases.ts'
import { chat, completion, httpUpstream, stage } from './stage.ts'

eachDatabase('what a channel changes in an answer', (_fresh, kind) => {
  async function answerOf(channel: Record<string, unknown>, body: unknown, reply = completion()) {
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(reply)
    })
    const { ask } = await stage(kind, url, { channel })
    const answer = await ask(body)
    expect(answer.status).toBe(200)
    return JSON.parse(answer.text).choices[0].message.content
  }

  const setting = (value: object) => JSON.stringify(value)

  it('[162] thinking becomes a part of the text where the channel says so', async () => {
    const thinking = completion({
      choices: [{ index: 0, message: { role: 'assistant', content: 'four', reasoning_content: 'hm' }, finish_reason: 'stop' }],
    })
    const answer = await answerOf({ setting: setting({ thinking_to_content: true }) }, chat(), thinking)
    expect(answer).toBe('<think>\nhm\n</think>\nfour')
    const plain = await answerOf({ setting: setting({ thinking_to_content: true }) }, chat())
    expect(plain).toBe('four five six')
  })
})
