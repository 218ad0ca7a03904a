import { readFileSync } from 'node:fs'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { expect, it } from 'vitest'
import { anyDatabase } from '../helpers/databases.ts'
import { books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { fixture } from '../helpers/upstream.ts'
import { answeringUpstream, settledCharges, stage } from './stage.ts'

const fixtureOf = (path: string) => fixture(path).toString()
const responses = new URL('../../src/server/gateway/protocols/openai-responses/fixtures/', import.meta.url)
const claude = 'claude-sonnet-4-5'
const gpt = 'gpt-5.4'
const path = '/v1/responses'
const tool = {
  type: 'function' as const,
  name: 'get_tide',
  parameters: { type: 'object', properties: { port: { type: 'string' } } },
  strict: false,
}

/** A stream of Claude with thinking first, then text and a call. */
function thoughtAndCall(): string {
  const [head, thought] = fixtureOf('anthropic/thinking.sse').split('event: content_block_start')
  const [, ...blocks] = fixtureOf('anthropic/tool_use.sse').split('event: content_block_start')
  const later = blocks.map((block) => block.replace(/"index":(\d)/g, (_, index) => `"index":${Number(index) + 1}`))
  return [head, thought, ...later].join('event: content_block_start')
}

/** An upstream that returns these answers one after the other, repeating the last, and records its requests. */
async function upstreamOf(...answers: string[]) {
  const { url, heard: asked } = await answeringUpstream((_, count) => answers[Math.min(count, answers.length) - 1] ?? '')
  return { url, asked }
}

const clients = [
  ['openai 7', OpenAI],
  // The calls used here are the same in both majors; their types only differ in name.
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
] as const

anyDatabase('Responses, translated', (_fresh, kind) => {
  async function staged(answers: string[], channel: Record<string, unknown>) {
    const { url, asked } = await upstreamOf(...answers)
    const open = await stage(kind, url, { channel })
    await setOptions(open.server, { ModelRatio: { [claude]: 1, [gpt]: 1 } })
    return { ...open, asked }
  }
  const toClaude = (...answers: string[]) => staged(answers, { type: 14, models: claude })

  for (const [name, Client] of clients) {
    it(`${name} thinks with Claude and calls a tool, and Claude gets its signature back`, async () => {
      const { server, token, asked } = await toClaude(thoughtAndCall(), fixtureOf('anthropic/text.sse'))
      const client = new Client({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
      const request = { model: claude, tools: [tool], reasoning: { effort: 'medium' as const, summary: 'auto' as const } }
      const question = { role: 'user', content: 'Which port is higher?' } as const

      const first = await client.responses.stream({ ...request, input: [question] }).finalResponse()
      expect(first).toMatchObject({ status: 'completed', model: claude, store: true })
      expect(first.output).toMatchObject([
        {
          type: 'reasoning',
          summary: [{ text: 'Two ports; compare heights.' }],
          encrypted_content: expect.stringMatching(/^sluice:anthropic:signature::/),
        },
        { type: 'message', content: [{ text: 'Checking.' }] },
        { type: 'function_call', name: 'get_tide', arguments: '{"port": "Rye"}' },
      ])
      const called = first.output.find((item) => item.type === 'function_call')
      if (!called) throw new Error('No call')

      const result = { type: 'function_call_output', call_id: called.call_id, output: '3.2 m' } as const
      // Output is sent back as input, as the vendor's guide shows; the types of the SDK do not allow that.
      const input = [question, ...first.output, result] as OpenAI.Responses.ResponseInput
      const second = await client.responses.stream({ ...request, input }).finalResponse()
      expect(second.output_text).not.toBe('')
      expect(asked.map(({ path }) => path)).toEqual(['/v1/messages', '/v1/messages'])
      expect(asked[1]?.body.messages).toMatchObject([
        { role: 'user' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Two ports; compare heights.', signature: 'EqQBfixture==' },
            { type: 'text', text: 'Checking.' },
            { type: 'tool_use', id: called.call_id, input: { port: 'Rye' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: called.call_id }] },
      ])
      expect(await settledCharges(server)).toHaveLength(2)
      await requireBalancedBooks(server)
    })

    it(`${name} gets a whole answer, and [206] a failed one when the upstream breaks off`, async () => {
      const broken = fixtureOf('anthropic/error_midstream.sse')
      const { server, token } = await toClaude(fixtureOf('anthropic/nonstream_tool_use.json'), broken)
      const client = new Client({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
      const whole = await client.responses.create({ model: claude, input: 'Hi', tools: [tool] })
      expect(whole.output.at(-1)).toMatchObject({ type: 'function_call', status: 'completed' })
      const failed = await client.responses.stream({ model: claude, input: 'Hi' }).finalResponse()
      expect(failed).toMatchObject({ status: 'failed', error: { message: expect.any(String) } })
      expect(await settledCharges(server)).toHaveLength(2)
      await requireBalancedBooks(server)
    })
  }

  it('reports the field that no channel of the model can carry', async () => {
    const { asked, ask } = await toClaude(fixtureOf('anthropic/text.sse'))
    for (const [field, more] of [
      ['tools[0].type', { tools: [{ type: 'file_search' }] }],
      ['input[0].type', { input: [{ type: 'compaction' }] }],
    ] as const) {
      const { status, text } = await ask({ model: claude, input: 'Hi', ...more }, path)
      expect([status, JSON.parse(text).error]).toEqual([
        400,
        expect.objectContaining({ type: 'invalid_request_error', code: 'unsupported_parameter', param: field }),
      ])
    }
    expect(asked).toEqual([])
  })

  it('[113] answers a Chat caller with tools by a model that refuses tools on Chat', async () => {
    const { server, asked, ask } = await staged([readFileSync(new URL('function_call.sse', responses), 'utf8')], { models: gpt })
    const functions = [{ type: 'function', function: { name: 'get_tide', parameters: tool.parameters } }]
    const body = { model: gpt, messages: [{ role: 'user', content: 'Tide?' }], tools: functions, stream: true }
    const { text } = await ask(body)
    expect(asked).toMatchObject([{ path, body: { store: false, include: ['reasoning.encrypted_content'] } }])
    expect(asked[0]?.body.tools).toMatchObject([{ type: 'function', name: 'get_tide' }])
    const chunks = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? ''))
    expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason).filter(Boolean)).toEqual(['tool_calls'])
    expect(text).toContain('call_fx01')
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)

    await ask({ ...body, tools: undefined })
    expect(asked[1]?.path).toBe('/v1/chat/completions')
    expect((await books(server)).logs[0]).toMatchObject({ prompt_tokens: 30, completion_tokens: 9 })
  })
})
