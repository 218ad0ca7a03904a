import { expect } from 'vitest'
import { billOf } from '../../src/contract/bill.ts'
import type { LogOther } from '../../src/contract/entities/log.ts'
import { readFactors } from '../../src/contract/log-factors.ts'
import type { DatabaseKind } from '../helpers/databases.ts'
import { books } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, stage } from './stage.ts'

/**
 * An upstream that answers every request with `reply`, whole or as the events of a stream, and records the bodies of the requests.
 */
export async function vendor(reply: object | (() => { type: string; text: string })) {
  const asked: Record<string, unknown>[] = []
  const { url } = await answeringUpstream(({ body }) => {
    asked.push(body)
    if (typeof reply !== 'function') return { json: reply }
    const { type, text } = reply()
    return { bytes: text, type }
  })
  return { url, asked }
}

/** One unit for each input or output token. */
export const prices = { 'gpt-5': 1, 'gpt-x': 1, 'claude-opus-4-6': 1, 'claude-haiku-4-5': 1, 'gemini-2.5-pro': 1 }

const models = Object.keys(prices)
const options = { ModelRatio: prices, CompletionRatio: Object.fromEntries(models.map((model) => [model, 1])) }

/** A server whose models cost one unit per token; `last` returns the newest log row, recomputed from its own factors. */
export async function scene(kind: DatabaseKind, url: string, channel: Record<string, unknown> = {}) {
  const staged = await stage(kind, url, { channel: { models: models.join(','), ...channel } })
  const set = (key: string, value: unknown) => staged.server.call('PUT /api/option/', { key, value: JSON.stringify(value) })
  for (const [key, value] of Object.entries(options)) await set(key, value)
  return { ...staged, set, last: async () => recomputed((await books(staged.server)).logs.at(-1)) }
}

/** The same on one shared server, for tests that set no options; `own` has the ratios of models of these tests alone. */
export function sharedScenes(own: Readonly<Record<string, number>> = prices) {
  const names = Object.keys(own)
  const sharedStage = sharedStages('sqlite', {
    ModelRatio: own,
    CompletionRatio: Object.fromEntries(names.map((model) => [model, 1])),
  })
  return async (url: string, channel: Record<string, unknown> = {}) => {
    const staged = await sharedStage(url, { models: names.join(','), ...channel })
    return { ...staged, last: async () => recomputed((await staged.logs()).at(-1)) }
  }
}

function recomputed(row: Awaited<ReturnType<typeof books>>['logs'][number] | undefined) {
  const other = JSON.parse(row?.other ?? '{}') as LogOther
  const bill = billOf({ quota: row?.quota ?? -1, factors: readFactors(row?.other ?? '') })
  expect(bill).toMatchObject({ agrees: true })
  return { quota: row?.quota, tokens: [row?.prompt_tokens, row?.completion_tokens], other }
}

/** Events of a stream. */
export const streamed = (events: readonly object[], end = '', named = false) => ({
  type: 'text/event-stream',
  text: events
    .map((event) => `${named ? `event: ${(event as { type: string }).type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')
    .concat(end),
})
