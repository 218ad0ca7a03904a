import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { expect, it } from 'vitest'
import { addChannel, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { model, stage } from './stage.ts'

const messages = [{ role: 'user' as const, content: 'one two three' }]
const clients = {
  'openai 7': (url: string, apiKey: string) =>
    new OpenAI({ apiKey, baseURL: `${url}/v1` }).chat.completions.create({ model, messages }),
  'openai 6': (url: string, apiKey: string) =>
    new OpenAI6({ apiKey, baseURL: `${url}/v1` }).chat.completions.create({ model, messages }),
  anthropic: (url: string, apiKey: string) =>
    new Anthropic({ apiKey, baseURL: url }).messages.create({ model, messages, max_tokens: 9 }),
}

it('[272] clients with retries of their own do not retry after several channels were tried', async () => {
  const [first, second] = await Promise.all([upstreamOfTest(), upstreamOfTest()])
  for (const upstream of [first, second]) upstream.program(model, { status: 429 })
  const { server, token } = await stage('sqlite', first.url, { channel: { auto_ban: 0 } })
  await addChannel(server, { url: second.url, models: model, auto_ban: 0 })
  await setOptions(server, { RetryTimes: 1 })
  for (const [name, ask] of Object.entries(clients)) {
    const before = first.journal.length
    await expect(ask(server.url, token.key), name).rejects.toMatchObject({ status: 429 })
    expect([name, first.journal.length - before, second.journal.length - before]).toEqual([name, 1, 1])
  }
  await requireBalancedBooks(server)
})
