import { execFileSync } from 'node:child_process'
import { startPostgres } from '../../scripts/postgres-server.mjs'

/** Once per test run: builds the server (worker threads and whole-process tests run the built files) and starts PostgreSQL. */
export default async function setup(): Promise<() => Promise<void>> {
  if (process.env.SKIP_BUILD !== '1')
    execFileSync('npx', ['--no-install', 'tsc', '-b', 'tsconfig.server.json'], { stdio: 'inherit' })
  if (process.env.TEST_PG_URL) return async () => {}

  const postgres = await startPostgres()
  process.env.TEST_PG_URL = postgres.url
  return postgres.stop
}
