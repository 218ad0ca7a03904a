import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'

const run = promisify(execFile)
const link = 'other-machine'
const [near, far] = ['198.51.100.1', '198.51.100.2']

/** A machine with an address of its own: its connections arrive over the network, as those of users do. */
interface OtherMachine {
  readonly address: string
  /** The address under which it reaches this machine. */
  readonly server: string
  post(url: string, headers: Record<string, string>, body: unknown): Promise<{ status: number; text: string; cookie: string }>
  remove(): Promise<void>
}

/** A network namespace, joined by a pair of virtual cables. */
export async function startOtherMachine(): Promise<OtherMachine> {
  const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(holder.stdout, 'data')
  const there = (...command: readonly string[]) => run('nsenter', [`--net=/proc/${holder.pid}/ns/net`, ...command])
  await run('ip', ['link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(holder.pid)])
  await run('ip', ['address', 'add', `${near}/24`, 'dev', link])
  await run('ip', ['link', 'set', link, 'up'])
  await there('ip', 'address', 'add', `${far}/24`, 'dev', 'eth0')
  await there('ip', 'link', 'set', 'eth0', 'up')
  return {
    address: far,
    server: near,
    async post(url, headers, body) {
      const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
      const script = `const response = await fetch(${JSON.stringify(url)}, ${JSON.stringify(request)})
        const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
        console.log(JSON.stringify({ status: response.status, text: await response.text(), cookie }))`
      const { stdout } = await there(process.execPath, '--input-type=module', '--eval', script)
      return JSON.parse(stdout)
    },
    async remove() {
      const ended = once(holder, 'exit')
      holder.stdin.end()
      await ended
    },
  }
}
