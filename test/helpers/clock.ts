/** A clock that moves only when the test moves it. */
export interface TestClock {
  nowMs: number
  now(): number
  passSeconds(seconds: number): void
}

export function newClock(nowMs = Date.UTC(2026, 0, 2, 12)): TestClock {
  return {
    nowMs,
    now() {
      return this.nowMs
    },
    passSeconds(seconds) {
      this.nowMs += seconds * 1000
    },
  }
}
