import { defineConfig } from 'vitest/config'

/** Programs of other makers, installed from npm, work through the gateway. */
export default defineConfig({
  test: {
    include: ['test/clients/*.clients.ts'],
    globalSetup: ['test/helpers/global-setup.ts'],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
  },
})
