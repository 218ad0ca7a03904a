/** Response headers by their lower-case names. */
type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Longer waits are capped at one hour. */
const secondsMax = 3600

/**
 * Seconds until the upstream wants to be asked again, at most an hour; 0 when it does not say. `Retry-After` in seconds or as a date
 * (RFC 9110) and Azure's `retry-after-ms` come first; else the latest reset of a limit that is used up: `RateLimit` (the IETF draft in its
 * older and newer forms), `x-ratelimit-…` of OpenAI and those who follow it, `anthropic-ratelimit-…`. Pure.
 */
export function readRetryAfter(headers: Headers, nowMs: number): number {
  const explicitMs = msIn(textOf(headers['retry-after']), nowMs) || numberIn(textOf(headers['retry-after-ms']))
  const ms = explicitMs || Math.max(0, ...resetsOf(headers).map((reset) => msIn(reset, nowMs)))
  return Math.min(Math.max(Math.ceil(ms / 1000), 0), secondsMax)
}

/** When the limits that are used up start anew, as the headers say it. */
function resetsOf(headers: Headers): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const text = textOf(value)
    if (name === 'ratelimit') return draftResets(text)
    if (!/^0+(\.0+)?$/.test(text) || !countsDown(name)) return []
    return textOf(headers[name.replace('remaining', 'reset')]) || []
  })
}

/** `x-ratelimit-remaining-requests` and its like. */
function countsDown(name: string): boolean {
  const at = name.indexOf('ratelimit')
  return at >= 0 && name.includes('remaining', at)
}

/** `limit=100, remaining=0, reset=50`, or `"minute";r=0;t=50, "day";r=10;t=3000`. */
function draftResets(text: string): string[] {
  const older = /\bremaining=0\b/.test(text) ? /\breset=(\d+)/.exec(text)?.[1] : undefined
  const newer = text.split(',').flatMap((policy) => (/;\s*r=0\b/.test(policy) ? (/;\s*t=(\d+)/.exec(policy)?.[1] ?? []) : []))
  return older === undefined ? newer : [older]
}

/** Seconds, a moment as unix seconds or milliseconds, a duration as `6m0.5s` or `120ms`, or a date. */
function msIn(text: string, nowMs: number): number {
  const number = numberIn(text)
  if (number > 1e11) return number - nowMs
  if (number > 1e9) return number * 1000 - nowMs
  if (text !== '' && !Number.isNaN(Number(text))) return number * 1000
  const [whole, hours, minutes, seconds, ms] = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/.exec(text) ?? []
  if (whole) return ((numberIn(hours) * 60 + numberIn(minutes)) * 60 + numberIn(seconds)) * 1000 + numberIn(ms)
  const at = Date.parse(text)
  return Number.isNaN(at) ? 0 : at - nowMs
}

function numberIn(text = ''): number {
  const number = Number(text)
  return Number.isFinite(number) ? number : 0
}

function textOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? (header[0] ?? '') : (header ?? '')).trim()
}
