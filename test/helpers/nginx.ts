import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { type RunningProxy, startProxy } from './proxy-process.ts'

/** Whether nginx is installed here; tests in front of it are skipped elsewhere, and say so. */
export const hasNginx = spawnSync('nginx', ['-v']).status === 0
if (!hasNginx) process.stderr.write('\n  !! nginx is not installed: the tests behind nginx are SKIPPED\n\n')

/** nginx as people put it in front of one node or several: `proxy_pass` over kept connections, with its defaults but for what is in `more`. */
export async function startNginx(backends: string | readonly string[], more = ''): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-'))
  const port = await freePort()
  const servers = [backends].flat().map((url) => `server ${new URL(url).host} fail_timeout=1s;`)
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  upstream sluice { ${servers.join(' ')} keepalive 4; }
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 0;
    location / { proxy_pass http://sluice; proxy_http_version 1.1; proxy_set_header Connection ""; ${more} }
  }
}
`,
  )
  return startProxy({ command: 'nginx', args: ['-p', folder, '-c', join(folder, 'nginx.conf')], folder, port })
}
