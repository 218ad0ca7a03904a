import { defineConfig } from 'vitest/config'

/**
 * Proofs too heavy for every change: thousands of parallel attempts, several processes, millions of rows, journeys in every look. One
 * at a time.
 */
export default defineConfig({
  test: {
    include: ['test/torture/**/*.torture.ts', 'test/browser/{journey,channels,screens,other-origin}.test.ts'],
    env: { EVERY_LOOK: '1' },
    globalSetup: ['test/helpers/global-setup.ts'],
    testTimeout: 30 * 60_000,
    hookTimeout: 10 * 60_000,
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
  },
})
