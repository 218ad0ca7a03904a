import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { answeringUpstream, chat, completion, event, piece, stage } from './stage.ts'

anyDatabase('an answer that the settings of its channel change', (_fresh, kind) => {
  async function answerOf(channel: Record<string, unknown>, body: unknown, reply = completion()) {
    const { url } = await answeringUpstream(reply)
    const { ask } = await stage(kind, url, { channel })
    const answer = await ask(body)
    expect(answer.status).toBe(200)
    return JSON.parse(answer.text).choices[0].message.content
  }

  const setting = (value: object) => JSON.stringify(value)

  it('[162] has its reasoning in the text if the channel is set to that', async () => {
    const thinking = completion({
      choices: [{ index: 0, message: { role: 'assistant', content: 'four', reasoning_content: 'hm' }, finish_reason: 'stop' }],
    })
    const answer = await answerOf({ setting: setting({ thinking_to_content: true }) }, chat(), thinking)
    expect(answer).toBe('<think>\nhm\n</think>\nfour')
    const plain = await answerOf({ setting: setting({ thinking_to_content: true }) }, chat())
    expect(plain).toBe('four five six')
  })

  it('is rewritten where the channel requires it: unknown members are removed, in streams too', async () => {
    const extra = {
      ...JSON.parse(piece('four').slice(6)),
      vendor_note: 'x',
      choices: [{ index: 0, delta: { content: 'four', mood: 'calm' }, finish_reason: null }],
    }
    for (const force_format of [true, false]) {
      const { url } = await answeringUpstream(event(extra) + piece('', 'stop') + event('[DONE]'))
      const { ask } = await stage(kind, url, { channel: { setting: setting({ force_format }) } })
      const { text } = await ask(chat({ stream: true }))
      expect(text).toContain('"content":"four"')
      expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
      expect([text.includes('vendor_note'), text.includes('mood')]).toEqual([!force_format, !force_format])
    }
  })
})
