import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

/** Tests that the ordinary run makes on SQLite alone. */
const ofAnyDatabase = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/${name}`)
  .filter((path) => readFileSync(path, 'utf8').includes('anyDatabase('))

/**
 * Proofs too heavy for every change: thousands of parallel attempts, several processes, millions of rows, journeys in every look, protocols on every database. One
 * at a time.
 */
export default defineConfig({
  test: {
    include: ['test/torture/**/*.torture.ts', 'test/browser/{journey,channels,screens,other-origin}.test.ts', ...ofAnyDatabase],
    env: { EVERY_LOOK: '1', EVERY_DATABASE: '1' },
    globalSetup: ['test/helpers/global-setup.ts'],
    testTimeout: 30 * 60_000,
    hookTimeout: 10 * 60_000,
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
  },
})
