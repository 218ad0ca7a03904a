import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, chat, completion, event, piece } from './stage.ts'

/** A model with reasoning, unlike the default one. */
const claude = 'claude-3-7-sonnet-20250219'

const refusal = (message: string) => JSON.stringify({ error: { message, type: 'invalid_request_error' } })

anyDatabase('a refusal that a changed request avoids', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  /** A stage in front of an upstream that answers as programmed, with a reply or a refusal. */
  async function open(
    answer: (body: Record<string, unknown>, count: number) => { refuse: string } | { reply: string },
    channel: Record<string, unknown> = {},
  ) {
    const bodies: Record<string, unknown>[] = []
    const { url } = await answeringUpstream(({ body }, count) => {
      bodies.push(body)
      const told = answer(body, count)
      return 'refuse' in told ? { bytes: refusal(told.refuse), status: 400 } : { bytes: told.reply }
    })
    return { ...(await sharedStage(url, channel)), bodies }
  }

  it('leaves `stream_options` out for an upstream without them, and remembers it', async () => {
    const { ask, bodies, server } = await open((body) =>
      body.stream_options
        ? { refuse: 'stream_options: Extra inputs are not permitted' }
        : { reply: piece('four') + piece('', 'stop') + event('[DONE]') },
    )
    for (let times = 0; times < 2; times++) {
      const answer = await ask(chat({ stream: true }))
      expect([answer.status, answer.text.includes('four')]).toEqual([200, true])
    }
    expect(bodies.map((body) => 'stream_options' in body)).toEqual([true, false, false])
    await requireBalancedBooks(server)
  })

  it('[154] leaves out invalid reasoning, once', async () => {
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
    const { ask, bodies } = await open(
      (body) =>
        JSON.stringify(body).includes('"signature"')
          ? { refuse: 'messages.1.content.0: Invalid `signature` in `thinking` block' }
          : { reply: JSON.stringify(reply) },
      { type: 14, models: claude },
    )
    const answer = await ask({
      model: claude,
      max_tokens: 3000,
      reasoning_effort: 'low',
      messages: [
        { role: 'user', content: 'one' },
        {
          role: 'assistant',
          content: 'two',
          thinking_blocks: [{ type: 'thinking', thinking: 'so it is', signature: 'c2lnbmF0dXJl' }],
        },
        { role: 'user', content: 'three' },
      ],
    })
    expect([answer.status, JSON.parse(answer.text).choices?.[0].message.content]).toEqual([200, 'four'])
    expect(bodies.map((body) => JSON.stringify(body).includes('signature'))).toEqual([true, false])
  })

  it('causes only one more attempt, and other refusals cause none', async () => {
    const stubborn = await open(() => ({ refuse: 'stream_options are wrong whatever you do' }))
    expect((await stubborn.ask(chat({ stream: true }))).status).toBe(400)
    expect(stubborn.bodies).toHaveLength(2)
    const plain = await open(() => ({ refuse: 'temperature must be below 2' }))
    expect((await plain.ask(chat({ temperature: 3 }))).status).toBe(400)
    expect(plain.bodies).toHaveLength(1)
    const good = await open(() => ({ reply: completion() }))
    expect((await good.ask(chat())).status).toBe(200)
  })
})
