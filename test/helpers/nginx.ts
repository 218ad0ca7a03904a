import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Whether nginx is installed here; tests in front of it are skipped elsewhere, and say so. */
export const hasNginx = spawnSync('nginx', ['-v']).status === 0
if (!hasNginx) process.stderr.write('\n  !! nginx is not installed: the tests behind nginx are SKIPPED\n\n')

export interface Nginx {
  readonly url: string
  stop(): Promise<void>
}

/** nginx as people put it in front of one node or several: `proxy_pass` over kept connections, with its defaults but for what is in `more`. */
export async function startNginx(backends: string | readonly string[], more = ''): Promise<Nginx> {
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
  const child = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
  const url = `http://127.0.0.1:${port}`
  await listening(child, url)
  return {
    url,
    async stop() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      if (child.exitCode === null && child.kill('SIGTERM')) await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has addresses of this kind.
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function listening(child: ChildProcess, url: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`)
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isUp) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('nginx did not start')
}
