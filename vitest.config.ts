import { configDefaults, defineConfig } from 'vitest/config'

/** These folders know no clock, no network and no database, so their tests need no process of their own each. */
const pure = ['src/contract/**/*.test.ts', 'src/server/protocols/**/*.test.ts', 'src/server/providers/**/*.test.ts']

const limits = {
  testTimeout: 30_000,
  hookTimeout: 60_000,
  pool: 'forks',
} as const

export default defineConfig({
  test: {
    globalSetup: ['test/helpers/global-setup.ts'],
    // Many tests wait for a deadline or another process: more workers than cores end sooner.
    maxWorkers: 4,
    projects: [
      { test: { ...limits, name: 'pure', include: pure, isolate: false } },
      {
        test: {
          ...limits,
          name: 'whole',
          include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...pure],
        },
      },
    ],
  },
})
