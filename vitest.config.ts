import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
    // Against what hangs, not against a busy machine: a page may take a minute for one step there.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    pool: 'forks',
    globalSetup: ['test/helpers/global-setup.ts'],
    // Many tests wait for a deadline or another process: more workers than cores end sooner.
    maxWorkers: 4,
    // Files share the processes of the workers: loading the program anew for each would be a fifth of the time.
    isolate: false,
    // Many servers are made and left, and most code runs a few times: with more room for objects their collection takes half of the time, and
    // functions are optimized only after much more use than by default.
    execArgv: ['--max-semi-space-size=64', '--initial-old-space-size=1024', '--interrupt-budget=2000000'],
  },
})
