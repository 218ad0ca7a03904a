import { createServer } from 'node:http'
import { loadShippedPrices } from '../../src/server/money/pricing/price-data.ts'
import { listeningInTest } from './listening.ts'

/** The price data of this version, which tests publish with changes. */
export const shippedPrices = await loadShippedPrices()

interface PublishedModel {
  readonly id: string
  readonly match: object
  readonly prices: unknown
}

/** Published data: that of this version, with these prices of OpenAI's models instead of its own. */
export function publishedPrices(prices: Readonly<Record<string, unknown>>): string {
  const changed = Object.entries(prices).map(([id, of]): PublishedModel => ({ id, match: { equals: id }, prices: of }))
  const vendors: { id: string; models: PublishedModel[] }[] = JSON.parse(JSON.stringify(shippedPrices.vendors))
  for (const { id, models } of vendors) if (id === 'openai') models.unshift(...changed)
  return JSON.stringify(vendors)
}

/** An address where price data is published: answers with the current value of `state`. Ends with the test. */
export async function pricePublisher(answer: string) {
  const state = { answer, status: 200, asked: 0 }
  const server = createServer((_request, response) => {
    state.asked++
    response.writeHead(state.status, { 'content-type': 'application/json' }).end(state.answer)
  })
  return { state, url: `${await listeningInTest(server)}/data.json` }
}
