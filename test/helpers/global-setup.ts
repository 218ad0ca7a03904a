import { execFileSync } from 'node:child_process'
import { startPostgres } from '../../scripts/postgres-server.mjs'
import { makeTemplates, removeDeadRuns, roomyMemory } from './templates.ts'

/**
 * Once per test run: builds the server (worker threads and whole-process tests run the built files), starts PostgreSQL, and creates
 * the databases of which all others are copies.
 */
export default async function setup(): Promise<() => Promise<void>> {
  removeDeadRuns()
  if (process.env.SKIP_BUILD !== '1')
    execFileSync('npx', ['--no-install', 'tsc', '-b', 'tsconfig.server.json'], { stdio: 'inherit' })
  const postgres = process.env.TEST_PG_URL
    ? undefined
    : await startPostgres({ folder: roomyMemory(4), more: { max_wal_size: '512MB' } })
  if (postgres) process.env.TEST_PG_URL = postgres.url
  const throwAway = await makeTemplates()
  return async () => {
    await throwAway()
    await postgres?.stop()
  }
}
