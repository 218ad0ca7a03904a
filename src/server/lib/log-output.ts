import type { DestinationStream } from 'pino'

/** The maximum size of log lines that wait for a slow reader. */
const waitingMax = 4 * 1024 * 1024

let dropped = 0
let isWatched = false

/** Lines that the log has lost since the start. */
export function droppedLines(): number {
  return dropped
}

/** A line was left out. */
export function countDropped(): void {
  dropped++
}

/** Log lines on standard output: a consumer that closes it, fills it or does not read it loses lines, and delays nothing. */
export function logOutput(): DestinationStream {
  return { write: (line) => writeOut(line, countDropped) }
}

/** Writes to standard output, or calls `lost` when its reader does not keep up. Never waits. */
export function writeOut(text: string, lost: () => void): void {
  // The write's callback gets every failure too; without a listener it would end the process.
  if (!isWatched) process.stdout.on('error', () => {})
  isWatched = true
  if (process.stdout.writableLength > waitingMax) lost()
  else
    process.stdout.write(text, (error) => {
      if (error) lost()
    })
}
