/** The clock of the app, replaceable in tests. Milliseconds since 1970. */
export type Clock = () => number

export function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

/**
 * A clock that starts at the time of day and continues by the monotonic clock: it never goes back and never jumps when the
 * machine's clock is set. Use it for durations, windows and intervals; times that are shown to people use the clock of the machine.
 */
export function newSteadyClock(wall: Clock = Date.now, monotonic: Clock = () => performance.now()): Clock {
  const offset = wall() - monotonic()
  return () => Math.floor(offset + monotonic())
}
