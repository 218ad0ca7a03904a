import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { type RunningProxy, startProxy } from './proxy-process.ts'

const isInstalled = spawnSync('haproxy', ['-v']).status === 0

/** HAProxy in front of several nodes, which it checks for readiness each half second. Undefined if it is not installed. */
export const startHaproxy = isInstalled ? start : undefined

async function start(backends: readonly string[]): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-haproxy-'))
  const port = await freePort()
  const servers = backends.map((url, index) => `  server node${index} ${new URL(url).host} check inter 500ms fall 1 rise 1`)
  writeFileSync(
    join(folder, 'haproxy.cfg'),
    `defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 1s
  retries 3
  option redispatch 1
frontend all
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  balance roundrobin
  option httpchk GET /readyz
${servers.join('\n')}
`,
  )
  return startProxy({ command: 'haproxy', args: ['-f', join(folder, 'haproxy.cfg')], folder, port, isUp: ({ ok }) => ok })
}
