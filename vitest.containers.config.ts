import { defineConfig } from 'vitest/config'

/** The image, the compose files and the unit of systemd, run by the Docker daemon that scripts/containers.mjs starts. */
export default defineConfig({
  test: {
    include: ['test/containers/*.containers.ts'],
    testTimeout: 15 * 60_000,
    hookTimeout: 15 * 60_000,
    expect: { poll: { timeout: 180_000, interval: 200 } },
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
  },
})
