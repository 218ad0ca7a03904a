import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { type RunningProxy, startProxy } from './proxy-process.ts'

/** Whether HAProxy is installed; otherwise the tests with it are skipped, with a message. */
export const hasHaproxy = spawnSync('haproxy', ['-v']).status === 0
if (!hasHaproxy) process.stderr.write('\n  !! haproxy is not installed: the tests behind HAProxy are SKIPPED\n\n')

/** The configuration that is shipped to operators. */
const shipped = new URL('../../deploy/haproxy.cfg', import.meta.url)

/** HAProxy in front of one node or several, with the shipped configuration except for its nodes and its port. */
export async function startHaproxy(backends: string | readonly string[]): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-haproxy-'))
  const port = await freePort()
  const servers = [backends].flat().map((url, index) => `  server node${index} ${new URL(url).host}`)
  const text = readFileSync(shipped, 'utf8')
  const changed = text
    .replace(/(?:^ *server gateway-\d .*\n)+/m, `${servers.join('\n')}\n`)
    .replace('bind :80', `bind 127.0.0.1:${port}`)
  if (changed.includes('gateway-1') || changed.includes(':80\n')) throw new Error('deploy/haproxy.cfg is not as expected')
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, changed)
  return startProxy({ command: 'haproxy', args: ['-f', file], folder, port, isUp: ({ ok }) => ok })
}
