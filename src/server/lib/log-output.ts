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
  // The write's callback gets every failure too; without a listener it would end the process.
  if (!isWatched) process.stdout.on('error', () => {})
  isWatched = true
  return {
    write(line) {
      if (process.stdout.writableLength > waitingMax) dropped++
      else
        process.stdout.write(line, (error) => {
          if (error) dropped++
        })
    },
  }
}
