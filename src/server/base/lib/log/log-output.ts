import type { DestinationStream } from 'pino'

/** The maximum size of log lines that wait for a slow reader. */
const waitingMax = 4 * 1024 * 1024

let dropped = 0
let isWatched = false

/** Log lines dropped since the start. */
export function droppedLines(): number {
  return dropped
}

/** Counts a dropped line. */
export function countDropped(): void {
  dropped++
}

/** Log lines on standard output: when its reader closes it or does not keep up, lines are dropped and nothing is delayed. */
export function logOutput(): DestinationStream {
  return { write: (line) => writeOut(line, countDropped) }
}

/** Writes to standard output, or calls `lost` when its reader does not keep up. Never waits. */
export function writeOut(text: string, lost: () => void): void {
  // The callback of the write also gets every failure; without a listener the error event would end the process.
  if (!isWatched) process.stdout.on('error', () => {})
  isWatched = true
  if (process.stdout.writableLength > waitingMax) lost()
  else
    process.stdout.write(text, (error) => {
      if (error) lost()
    })
}
