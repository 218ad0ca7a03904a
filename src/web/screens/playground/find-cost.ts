import { call } from '../../lib/call.ts'

/** The charge of an answer that was stopped is settled a moment later. */
const askedAfterMs = [0, 1000, 4000] as const

/** The charge of a request in units of quota, from the log, which has it by its id. Undefined when the log has none; never throws. */
export async function findCost(requestId: string): Promise<number | undefined> {
  for (const waitMs of askedAfterMs) {
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    const list = await call('GET /api/log/self', { query: { ...anyLog, request_id: requestId } }).catch(() => undefined)
    const cost = list?.items[0]?.quota
    if (cost !== undefined) return cost
  }
  return undefined
}

const anyLog = {
  p: 1,
  page_size: 1,
  type: 2,
  status: 0,
  start_timestamp: 0,
  end_timestamp: 0,
  token_name: '',
  model_name: '',
  group: '',
  before: '',
}
