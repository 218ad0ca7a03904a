import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

/** Tests that are smaller in the ordinary run: on SQLite alone, or with fewer cases. */
const largerHere = ['src/', 'test/'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => folder + name)
    .filter((path) => /\b(anyDatabase|sampled|looks)\(|\b(isTorture|everyLook)\b/.test(readFileSync(path, 'utf8'))),
)

/**
 * Proofs too heavy for every change: thousands of parallel attempts, several processes, millions of rows, journeys in every look, protocols on every database. One
 * at a time.
 */
export default defineConfig({
  test: {
    include: ['test/torture/**/*.torture.ts', ...largerHere],
    env: { EVERY_LOOK: '1', TORTURE: '1' },
    globalSetup: ['test/helpers/global-setup.ts'],
    testTimeout: 30 * 60_000,
    hookTimeout: 10 * 60_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
  },
})
