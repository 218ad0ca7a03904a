import { type Logger, newLogger } from '../../src/server/base/lib/log/logger.ts'
import { isWatched, note } from './canaries.ts'

const levels: Readonly<Record<string, number>> = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, silent: Infinity }

/**
 * A logger for tests: silent, or of the level whose lines a test reads. In the run that searches for secrets all levels are
 * recorded, and the test still reads only the lines of its level.
 */
export function testLogger(
  level = process.env.TEST_LOG_LEVEL ?? 'silent',
  read: (line: string) => void = (line) => void process.stdout.write(line),
): Logger {
  if (!isWatched) return newLogger(level, { write: read })
  const least = levels[level] ?? 0
  return newLogger('trace', {
    write(line) {
      note('logs', line)
      if (Number(/^\{"level":(\d+)/.exec(line)?.[1]) >= least) read(line)
    },
  })
}
