/** Times of day in a zone. Offsets are looked up once per quarter of an hour, within which no zone changes. */
export function zoneClock(timeZone: string): { zone: string; timeText: (unixSeconds: number) => string } {
  const zone = isKnown(timeZone) ? timeZone : 'UTC'
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  let quarter = Number.NaN
  let offset = 0

  const timeText = (unixSeconds: number) => {
    const now = Math.floor(unixSeconds / 900)
    if (now !== quarter) {
      quarter = now
      offset = offsetOf(format, unixSeconds)
    }
    const local = new Date((unixSeconds + offset * 60) * 1000).toISOString().slice(0, 19)
    return `${local}${offsetText(offset)}`
  }
  return { zone, timeText }
}

function isKnown(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone })
    return timeZone !== ''
  } catch {
    return false
  }
}

/** Minutes east of Greenwich. */
function offsetOf(format: Intl.DateTimeFormat, unixSeconds: number): number {
  const name = format.formatToParts(unixSeconds * 1000).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = '0', minutes = '0'] = /([+-])(\d+):?(\d*)/.exec(name) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

function offsetText(minutes: number): string {
  const pad = (value: number) => String(value).padStart(2, '0')
  const size = Math.abs(minutes)
  return minutes === 0 ? 'Z' : `${minutes < 0 ? '-' : '+'}${pad(Math.floor(size / 60))}:${pad(size % 60)}`
}
