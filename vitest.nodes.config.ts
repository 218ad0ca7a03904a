import { defineConfig } from 'vitest/config'
import { workerFlags } from './test/helpers/worker-flags.ts'

/** What `test/node-versions.test.ts` runs on other versions of Node: files that need neither a database nor the built server. */
export default defineConfig({
  test: {
    include: ['src/server/lib/node-internals.test.ts', 'src/server/http/listeners.test.ts'],
    maxWorkers: 1,
    execArgv: [...workerFlags],
  },
})
