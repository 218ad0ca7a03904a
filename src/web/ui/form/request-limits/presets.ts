import type { RequestLimit } from '../../../../contract/entities/request-limit.ts'

/** Frequent limits, offered wherever one is set. */
export const limitPresets = [
  { label: 'requestsAMinute', limit: { seconds: 60, requests: 60, tokens: 0, concurrency: 0 } },
  { label: 'requestsADay', limit: { seconds: 86_400, requests: 1000, tokens: 0, concurrency: 0 } },
  { label: 'tokensAMinute', limit: { seconds: 60, requests: 0, tokens: 200_000, concurrency: 0 } },
  { label: 'atOnce', limit: { seconds: 60, requests: 0, tokens: 0, concurrency: 5 } },
] as const satisfies readonly { readonly label: string; readonly limit: RequestLimit }[]
