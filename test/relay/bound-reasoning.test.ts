import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { addChannel, addToken } from '../helpers/seed.ts'
import { json } from './responses-vendor.ts'
import { sharedStages } from './shared-stage.ts'
import { ask as askServer, httpUpstream, model } from './stage.ts'

const claude = 'claude-3-7-sonnet-20250219'

interface Sealed {
  readonly type: string
  readonly signature?: string
  readonly encrypted_content?: string
}
interface Sent {
  readonly messages?: readonly { readonly content: string | readonly Sealed[] }[]
  readonly input?: string | readonly Sealed[]
  readonly contents?: readonly { readonly parts: readonly { readonly thoughtSignature?: string }[] }[]
}

function sealsIn({ messages = [], input = [], contents = [] }: Sent): string[] {
  if (contents.length > 0) return contents.flatMap(({ parts }) => parts.flatMap(({ thoughtSignature }) => thoughtSignature ?? []))
  const items = [...messages.map(({ content }) => content), input].flatMap((content) =>
    typeof content === 'string' ? [] : content,
  )
  return items.flatMap(({ signature, encrypted_content }) => signature ?? encrypted_content ?? [])
}

/**
 * A vendor of Messages, Responses and Gemini with several accounts, one for each key: it reads only reasoning that the same account has
 * written. A busy account answers 429.
 */
async function vendor(refusal: string) {
  const asked: { readonly key: string; readonly seals: readonly string[]; readonly status: number }[] = []
  const busy = new Set<string>()
  let written = 0
  const url = await httpUpstream(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body: Sent = JSON.parse(text)
    const { headers } = request
    const key = String(headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization?.replace('Bearer ', ''))
    const account = key.replace(/-\d+$/, '')
    const seals = sealsIn(body)
    const isForeign = seals.some((seal) => seal !== placeholder && !seal.startsWith(`${account}:`))
    const status = busy.has(key) ? 429 : isForeign ? 400 : 200
    asked.push({ key, seals, status })
    if (body.contents)
      return generate(response, { status, refusal, seal: () => `${account}:${++written}`, url: request.url ?? '' })
    response.setHeader(body.messages ? 'anthropic-organization-id' : 'openai-organization', account)
    if (status !== 200)
      return json(response, status, { type: 'error', error: { type: 'invalid_request_error', message: refusal } })
    const seal = `${account}:${++written}`
    return json(response, 200, body.messages ? message(seal) : made(seal))
  })
  return { url, asked, busy }
}

/** The vendor's word for a signature that is not known. */
const placeholder = 'skip_thought_signature_validator'

/** Gemini's answer: a signed call of a tool, in one body or as a stream. */
function generate(
  response: ServerResponse,
  {
    status,
    refusal,
    seal,
    url,
  }: { readonly status: number; readonly refusal: string; readonly seal: () => string; readonly url: string },
): void {
  if (status !== 200) {
    json(response, status, { error: { code: status, message: refusal, status: 'INVALID_ARGUMENT' } })
    return
  }
  const parts = [{ functionCall: { name: 'look', args: {} }, thoughtSignature: seal() }]
  const reply = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
  }
  if (url.includes(':stream')) {
    response.setHeader('content-type', 'text/event-stream')
    response.end(`data: ${JSON.stringify(reply)}\n\n`)
  } else json(response, 200, reply)
}

const message = (signature: string) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: claude, stop_reason: 'end_turn', stop_sequence: null },
  content: [
    { type: 'thinking', thinking: 'so', signature },
    { type: 'text', text: 'Yes.' },
  ],
  usage: { input_tokens: 3, output_tokens: 1 },
})

const made = (encrypted_content: string) => ({
  ...{ id: 'resp_1', object: 'response', status: 'completed', model },
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content },
    { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: 'Yes.' }] },
  ],
  usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
})

const gemini = 'gemini-3-pro-preview'
const geminiConversation = {
  channel: { type: 24, models: gemini },
  lost: 'contents.thoughtSignature',
  body: (turns: readonly unknown[]) => ({ contents: turns }),
}
const generated = ({ candidates }: Record<string, unknown>) =>
  (candidates as { readonly content: unknown }[]).map(({ content }) => content)

/** A conversation in one interface, which repeats all of its turns. */
const conversations = {
  Messages: {
    channel: { type: 14, models: claude },
    path: '/v1/messages',
    lost: 'messages.thinking',
    body: (turns: readonly unknown[]) => ({ model: claude, max_tokens: 5, messages: turns }),
    answer: ({ content }: Record<string, unknown>) => [{ role: 'assistant', content }],
  },
  Responses: {
    channel: { type: 1, models: model },
    path: '/v1/responses',
    lost: 'input.reasoning',
    body: (turns: readonly unknown[]) => ({ model, store: false, input: turns }),
    answer: ({ output }: Record<string, unknown>) => output as unknown[],
  },
  Gemini: {
    ...geminiConversation,
    path: `/v1beta/models/${gemini}:generateContent`,
    answer: generated,
  },
  'streams of Gemini': {
    ...geminiConversation,
    path: `/v1beta/models/${gemini}:streamGenerateContent?alt=sse`,
    answer: generated,
  },
}
const refusals = {
  Messages: 'messages.1.content.0: `thinking` block is bound to a different organization (organization_binding_mismatch)',
  Responses: 'The encrypted content a:1 could not be verified. Reason: organization_id did not match the target organization.',
  Gemini: 'Corrupted thought signature.',
  'streams of Gemini': 'Thought signature is not valid',
}

describe.each(['Messages', 'Responses', 'Gemini', 'streams of Gemini'] as const)(
  'reasoning in %s that is bound to an account',
  (dialect) => {
    const { channel, path, lost, body, answer } = conversations[dialect]
    const sharedStage = sharedStages('sqlite', { RetryTimes: 3 })
    const isGemini = dialect.includes('Gemini')
    /** Gemini 3 refuses a call without a signature. */
    const placeholders = isGemini ? [placeholder] : []

    /** A conversation over channels with these keys, which stands for others with another first question. */
    async function open(keys: readonly string[]) {
      const upstream = await vendor(refusals[dialect])
      const { server, token } = await sharedStage(upstream.url, { ...channel, key: keys[0] })
      for (const key of keys.slice(1)) await addChannel(server, { url: upstream.url, ...channel, key })
      const conversation = (first: string) => {
        const question = { role: 'user', ...(isGemini ? { parts: [{ text: first }] } : { content: first }) }
        let turns: unknown[] = [question]
        return async (key = token.key) => {
          const before = upstream.asked.length
          const { status, headers, text } = await askServer(server, key, body(turns), path)
          if (status === 200) turns = [...turns, ...answer(JSON.parse(text.replace(/^data: /, ''))), question]
          return { status, text, dropped: headers.get('x-sluice-dropped'), asked: upstream.asked.slice(before) }
        }
      }
      return { ...upstream, server, conversation, turn: conversation('Well?') }
    }

    // Gemini's replies do not name the account.
    if (!isGemini)
      it('[297] stays with the account: its other key answers when the first has no room', async () => {
        const keys = ['a-1', 'b-1', 'a-2', 'b-2']
        const { asked, busy, conversation, turn } = await open(keys)
        // The account of a key is known from its answers.
        for (let other = 0; new Set(asked.map(({ key }) => key)).size < keys.length; other++)
          await conversation(`Other ${other}`)()
        const { key: first = '' } = (await turn()).asked[0] ?? {}
        busy.add(first)
        const [account = ''] = first.split('-')
        const second = keys.find((key) => key !== first && key.startsWith(account))
        const moved = await turn()
        expect([moved.status, moved.dropped, moved.asked]).toMatchObject([
          200,
          null,
          [
            { key: first, status: 429 },
            { key: second, status: 200 },
          ],
        ])
        expect((await turn()).asked).toMatchObject([{ key: second, status: 200 }])
      })

    it('[154] is left out for another account after its refusal, with a receipt, once: new reasoning is kept in later turns', async () => {
      const { turn, busy } = await open(['a-1', 'b-1'])
      const { key: first = '' } = (await turn()).asked[0] ?? {}
      busy.add(first)
      const moved = await turn()
      expect([moved.status, moved.dropped]).toEqual([200, lost])
      expect(moved.asked.map(({ status }) => status)).toEqual([429, 400, 200])
      const next = await turn()
      const { key: second = '' } = next.asked[0] ?? {}
      expect(second).not.toBe(first)
      // What the second account has written goes back to it; what it cannot read does not.
      expect([next.status, next.dropped, next.asked]).toEqual([
        200,
        lost,
        [{ key: second, status: 200, seals: [...placeholders, `${second.replace(/-\d+$/, '')}:2`] }],
      ])
    })

    it('is refused in the words of the vendor for a strict token', async () => {
      const { turn, busy, server } = await open(['a-1', 'b-1'])
      const { key: first = '' } = (await turn()).asked[0] ?? {}
      busy.add(first)
      const strict = await addToken(server, { strict_translation: true })
      const refused = await turn(strict.key)
      expect([refused.status, refused.asked.at(-1)?.status]).toEqual([400, 400])
      if (isGemini) expect(JSON.parse(refused.text).error.message).toContain(refusals[dialect])
    })
  },
)
