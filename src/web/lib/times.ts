/** Local times as a person reads and writes them; all times are unix seconds. */

const pad = (value: number): string => String(value).padStart(2, '0')

/** Local time as `yyyy-MM-dd HH:mm:ss` from unix seconds. */
export function formatTime(seconds: number): string {
  return formatDate(new Date(seconds * 1000))
}

function formatDate(date: Date): string {
  const day = `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  return `${day} ${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`
}

/**
 * Unix seconds of `yyyy-MM-dd HH:mm:ss` in local time; the clock may be shortened or left out, and the separators may differ.
 * Undefined when the text is no such time.
 */
export function parseTime(text: string): number | undefined {
  const match = /^(\d{4})[-/.](\d\d?)[-/.](\d\d?)(?:[ T]+(\d\d?):(\d\d?)(?::(\d\d?))?)?$/.exec(text.trim())
  if (!match) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map((part) => Number(part ?? 0))
  const date = new Date(year, month - 1, day, hour, minute, second)
  const same = date.getMonth() === month - 1 && date.getDate() === day && hour < 24 && minute < 60 && second < 60
  return same ? Math.floor(date.getTime() / 1000) : undefined
}

/** Whether a field holds a time: neither undefined nor NaN, which stands for an invalid text. */
export function isTime(seconds: number | undefined): seconds is number {
  return seconds !== undefined && !Number.isNaN(seconds)
}

/** Midnight at the beginning of today, or of an earlier day. */
export function startOfDay(daysAgo = 0): number {
  const now = new Date()
  return Math.floor(new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo).getTime() / 1000)
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** The zone that times are shown in: `Asia/Shanghai`. */
export function timeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** The time zone with its offset: `Asia/Shanghai (UTC+8)`. */
export function timeZoneName(): string {
  return `${timeZone()} (${timeZoneOffset()})`
}

/** `UTC+8`, `UTC-3:30` */
export function timeZoneOffset(date = new Date()): string {
  const minutes = -date.getTimezoneOffset()
  const size = Math.abs(minutes)
  const rest = size % 60 === 0 ? '' : `:${pad(size % 60)}`
  return `UTC${minutes < 0 ? '-' : '+'}${Math.floor(size / 60)}${rest}`
}
