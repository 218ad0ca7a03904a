import { defineConfig } from 'vitest/config'
import { workerFlags } from './test/helpers/worker-flags.ts'

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
    maxWorkers: 5,
    // Files share the processes of the workers: loading the program anew for each would be a fifth of the time.
    isolate: false,
    execArgv: [...workerFlags],
  },
})
