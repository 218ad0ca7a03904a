import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A second is short where four browsers share two cores.
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    globalSetup: ['test/helpers/global-setup.ts'],
    // Many tests wait for a deadline or another process: more workers than cores end sooner.
    maxWorkers: 4,
    // Files share the processes of the workers: loading the program anew for each would be a fifth of the time.
    isolate: false,
    // Many servers are made and left: with more room for young objects their collection takes half of the time.
    execArgv: ['--max-semi-space-size=64'],
  },
})
