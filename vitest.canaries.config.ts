import { mergeConfig } from 'vitest/config'
import everyTest from './vitest.config.ts'

/** Every test once more with its servers at their most talkative: no secret of any of them may be found in what they wrote. */
export default mergeConfig(everyTest, {
  test: {
    env: { CANARIES: '1' },
    setupFiles: ['test/helpers/canary-setup.ts'],
    globalSetup: ['test/helpers/canary-tally.ts'],
  },
})
