import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { type RunningProxy, startProxy } from './proxy-process.ts'

/** Whether nginx is installed; otherwise the tests with it are skipped, with a message. */
export const hasNginx = spawnSync('nginx', ['-v']).status === 0
if (!hasNginx) process.stderr.write('\n  !! nginx is not installed: the tests behind nginx are SKIPPED\n\n')

/** The configuration that is shipped to operators. */
const shipped = new URL('../../deploy/nginx.conf', import.meta.url)

interface NginxChanges {
  /** Directives of the location that the shipped file lacks. */
  readonly more?: string
  /** The path of the location, which is passed on as it is. */
  readonly location?: string
  /** Directives to remove, exactly as written. */
  readonly without?: readonly string[]
}

/** nginx in front of one node or several, with the shipped configuration except for its nodes, its port and the paths of its files. */
export async function startNginx(backends: string | readonly string[], changes: NginxChanges = {}): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-'))
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration({ backends: [backends].flat(), port, folder, ...changes }))
  return startProxy({ command: 'nginx', args: ['-p', folder, '-c', file], folder, port })
}

interface Place {
  readonly backends: readonly string[]
  readonly port: number
  readonly folder: string
}

function configuration({ backends, port, folder, more = '', location = '/', without = [] }: Place & NginxChanges): string {
  const servers = backends.map((url) => `server ${new URL(url).host} fail_timeout=1s;`).join(' ')
  const files = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((use) => `${use}_temp_path ${folder}/${use};`).join(' ')
  const replaced: readonly (readonly [RegExp | string, string])[] = [
    [/(?:^ *server gateway-\d:3000 fail_timeout=1s;\n)+/m, `${servers}\n`],
    ['listen 80;', `listen 127.0.0.1:${port};`],
    ['http {', `http { ${files}`],
    ['location / {', `location ${location} {`],
    ['proxy_pass http://gateways;', `proxy_pass http://gateways; ${more}`],
    ...without.map((directive) => [directive, ''] as const),
  ]
  const conf = replaced.reduce(
    (text, [found, put]) => {
      const changed = text.replace(found, () => put)
      if (changed === text && !text.includes(put)) throw new Error(`deploy/nginx.conf has no ${found}`)
      return changed
    },
    readFileSync(shipped, 'utf8'),
  )
  return `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;\n${conf}`
}
