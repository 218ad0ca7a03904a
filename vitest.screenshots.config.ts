import { defineConfig } from 'vitest/config'

/** Pictures of every screen, for people to leaf through. */
export default defineConfig({
  test: {
    include: ['test/browser/*.shots.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    testTimeout: 10 * 60_000,
    hookTimeout: 2 * 60_000,
    pool: 'forks',
    maxWorkers: 1,
  },
})
