import { expect, it } from 'vitest'
import { readRetryAfter } from './failure.ts'

const nowMs = Date.UTC(2026, 0, 2, 12)
const read = (headers: Record<string, string | string[]>) => readRetryAfter(headers, nowMs)

it.each<[string, Record<string, string | string[]>, number]>([
  ['seconds', { 'retry-after': '7' }, 7],
  ['parts of a second', { 'retry-after': '0.2' }, 1],
  ['a date', { 'retry-after': new Date(nowMs + 90_000).toUTCString() }, 90],
  ['a date that has passed', { 'retry-after': new Date(nowMs - 90_000).toUTCString() }, 0],
  ['milliseconds, as Azure says it', { 'retry-after-ms': '1500' }, 2],
  ['the first of several', { 'retry-after': ['3', '9'] }, 3],
  ['thirty days at most', { 'retry-after': '99999999' }, 2_592_000],
  ['a moment', { 'retry-after': String(nowMs / 1000 + 30) }, 30],
])('reads %s', (_what, headers, seconds) => {
  expect(read(headers)).toBe(seconds)
})

it.each<[string, Record<string, string>, number]>([
  [
    'OpenAI',
    { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s', 'x-ratelimit-reset-tokens': '9m' },
    360,
  ],
  ['OpenAI, within a second', { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '120ms' }, 1],
  [
    'Anthropic',
    { 'anthropic-ratelimit-input-tokens-remaining': '0', 'anthropic-ratelimit-input-tokens-reset': '2026-01-02T12:00:41Z' },
    41,
  ],
  ['an aggregator', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(nowMs + 12_000) }, 12],
  ['the draft in three headers', { 'ratelimit-remaining': '0', 'ratelimit-reset': '50' }, 50],
  ['the draft in one', { ratelimit: 'limit=100, remaining=0, reset=51' }, 51],
  ['the draft with policies', { ratelimit: '"minute";r=0;t=52, "day";r=10;t=3000' }, 52],
])('reads the reset of an exhausted limit from the headers of %s', (_whom, headers, seconds) => {
  expect(read(headers)).toBe(seconds)
})

it.each<Record<string, string>>([
  {},
  { 'retry-after': 'soon' },
  { 'retry-after': '-5' },
  { 'retry-after': '' },
  { 'x-ratelimit-remaining-requests': '5', 'x-ratelimit-reset-requests': '6m0s' },
  { 'x-ratelimit-remaining-requests': '0' },
  { ratelimit: '"minute";r=3;t=52' },
])('returns 0 without a usable time: %o', (headers) => {
  expect(read(headers)).toBe(0)
})
