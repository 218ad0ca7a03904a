import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModel } from 'ai'
import { describe, expect, it } from 'vitest'
import { formats } from '../../src/server/gateway/protocols/index.ts'
import type { ReplyEvent } from '../../src/server/gateway/protocols/reply-events.ts'
import { contextOf, replyOf } from './any-writing.ts'

/** The providers of the Vercel AI SDK validate every reply and event by their own schemas. An unreadable one becomes a part `error`. */
type Model = Exclude<LanguageModel, string> & { readonly specificationVersion: 'v3' }

type Fetch = () => Promise<globalThis.Response>
const models = {
  'openai.chat': (fetch: Fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('m'),
  'openai.responses': (fetch: Fetch) => createOpenAI({ apiKey: 'k', fetch }).responses('m'),
  'anthropic.messages': (fetch: Fetch) => createAnthropic({ apiKey: 'k', fetch })('m'),
  'gemini.generate': (fetch: Fetch) => createGoogleGenerativeAI({ apiKey: 'k', fetch })('m'),
} as const satisfies Record<string, (fetch: Fetch) => Model>

const seeds = Array.from({ length: 150 }, (_, at) => at + 1)
const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'x' }] }]

describe.each(Object.entries(models))('replies of %s, by the schemas of the Vercel AI SDK', (name, modelOf) => {
  // The keys are those of the table.
  const format = name as keyof typeof models
  const inbound = formats[format].inbound
  // Calls with free text are sent only to callers that have declared such tools, which this provider cannot in Chat.
  const wanted = (seed: number) => (format === 'openai.chat' ? withoutFreeText(replyOf(seed)) : replyOf(seed))
  const answer = (text: string, type: string) => async () => new Response(text, { headers: { 'content-type': type } })

  it('are read as streams', async () => {
    for (const seed of seeds) {
      const writer = inbound?.writeEvents(contextOf(format, seed))
      const text = wanted(seed)
        .map((event) => writer?.push(event) ?? '')
        .join('')
      const { stream } = await modelOf(answer(text, 'text/event-stream')).doStream({ prompt })
      const errors: unknown[] = []
      for await (const part of stream) if (part.type === 'error') errors.push(part.error)
      expect([seed, errors.map(String)]).toEqual([seed, []])
    }
  })

  it('are read as JSON', async () => {
    for (const seed of seeds) {
      const reply = inbound?.writeReply(wanted(seed), contextOf(format, seed))
      const { content } = await modelOf(answer(JSON.stringify(reply), 'application/json')).doGenerate({ prompt })
      expect([seed, Array.isArray(content)]).toEqual([seed, true])
    }
  })
})

function withoutFreeText(events: readonly ReplyEvent[]): ReplyEvent[] {
  return events.map((event) =>
    event.type === 'open' && event.block === 'custom-tool-call' ? { ...event, block: 'tool-call' } : event,
  )
}
