/** The limits of a window of this many seconds: requests, tokens and concurrent requests. 0 is no limit. */
export interface RequestLimit {
  readonly seconds: number
  readonly requests: number
  readonly tokens: number
  readonly concurrency: number
}

/** 31 days. */
export const limitSecondsMax = 2_678_400
export const requestCountMax = 1_000_000_000
/** The greatest number of limits of one group, which all apply. */
export const limitsOfGroupMax = 4
