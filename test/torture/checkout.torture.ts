import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { consoleCalls, rootPassword, signIn } from '../helpers/app.ts'
import { testMasterKey } from '../helpers/core.ts'
import { documentedCommands, inlineCommand } from '../helpers/documented-commands.ts'
import { git, hasHistory } from '../helpers/older-version.ts'
import { furnish } from '../helpers/paced-callers.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { shell, startCommand } from '../operations/installation.ts'
import { ask, chat } from '../relay/stage.ts'

/**
 * A checkout of an older version is brought to this one by the commands of install.md and upgrade.md, with its own packages and builds:
 * CHECKOUT_FROM (a commit). npm has to reach its registry, or to have the packages in its cache.
 */
const older = process.env.CHECKOUT_FROM ?? 'd111a08b'

it.skipIf(!hasHistory)(
  `a checkout of ${older} gets the new version by git pull, and npm start installs, builds and migrates`,
  async ({ skip }) => {
    const above = mkdtempSync(join(tmpdir(), 'sluice-checkout-'))
    onTestFinished(() => rmSync(above, { recursive: true, force: true }))
    const origin = join(above, 'origin.git')
    const newer = git('rev-parse', 'HEAD')
    git('clone', '--quiet', '--bare', '.', origin)
    const publish = (commit: string) => git('-C', origin, 'update-ref', 'refs/heads/published', git('rev-parse', commit))
    publish(older)
    git('-C', origin, 'symbolic-ref', 'HEAD', 'refs/heads/published')

    const upstream = await upstreamOfTest()
    const env = { MASTER_KEY: testMasterKey.toString('base64'), ROOT_PASSWORD: rootPassword, NPM_CONFIG_PREFER_OFFLINE: 'true' }
    const install = documentedCommands('install.md', 'On a machine', '', 'git clone').replace('…', origin)
    const before = startCommand(above, install, env)
    const url = await before.url.catch((error: Error) => {
      if (!isUnreachable(error.message)) throw error
      process.stderr.write('\n  !! npm cannot reach its registry: the upgrade of a checkout is not tested (SKIPPED)\n\n')
      return skip()
    })
    const call = consoleCalls(url, await signIn(url))
    const key = await furnish({ call }, upstream.url)
    const spend = async (at: string, calls: number) => {
      for (let count = 0; count < calls; count++) expect((await ask({ url: at }, key, chat())).status).toBe(200)
    }
    await spend(url, 3)
    before.stop()
    await before.ended

    publish(newer)
    const folder = join(above, 'sluice')
    const run = (command: string) => shell(folder, command, env)
    await run(inlineCommand('upgrade.md', 'git pull'))
    expect((await run('git rev-parse HEAD')).trim()).toBe(newer)
    // In a checkout the program is run by npm, as commands.md says.
    const inCheckout = (command: string) => command.replace(/^sluice /, 'npm run -s sluice -- ')
    const dryRun = await run(inCheckout(inlineCommand('upgrade.md', 'sluice migrate --dry-run')))
    expect(dryRun).toMatch(/^Would run: [1-9]\d* migrations?\.$/m)

    const after = startCommand(folder, inlineCommand('upgrade.md', 'npm start'), env)
    const now = await after.url
    const status = (await (await fetch(`${now}/api/status`)).json()) as { data: { sluice_version: string } }
    expect(status.data.sluice_version).toBe(readFileSync(join(folder, 'VERSION'), 'utf8').trim())
    await spend(now, 2)
    const { total } = await consoleCalls(now, await signIn(now))<{ total: number }>('GET /api/log/?type=2')
    expect(total).toBe(5)
    const verified = JSON.parse(await run('npm run -s sluice -- verify --json'))
    expect(verified).toMatchObject({ ok: true, charges: { rows: 5, differing: 0 } })
    expect(await run(inCheckout(inlineCommand('upgrade.md', 'sluice migrate --dry-run')))).toBe('The database is up to date.\n')
    after.stop()
    await after.ended
  },
)

/** Whether npm failed because it has no connection to its registry. */
const isUnreachable = (output: string) =>
  /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/.test(output)
