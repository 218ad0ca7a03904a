import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { documentedCommands } from '../helpers/documented-commands.ts'
import { ask, chat, model } from '../relay/stage.ts'
import { docker, evaluate, furnish, isReady, type ReachableUpstream, startReachableUpstream } from './docker.ts'

/** deploy/sluice.service on a server with systemd, with the package of `npm pack`, installed by the commands of install.md. */

const url = 'http://127.0.0.1:3000'
const name = 'machine'
const state = '/var/lib/sluice'
const rootPassword = 'correct-horse-1'
const settings = ['HOST=0.0.0.0', `MASTER_KEY=${randomBytes(32).toString('base64')}`, `ROOT_PASSWORD=${rootPassword}`]
const startsWithin = { timeout: 180_000, interval: 200 }
let upstream: ReachableUpstream
let site: Awaited<ReturnType<typeof furnish>>

/** Runs commands as root in the project folder of the server; fails when one of them does. */
const shell = (commands: string) => docker('exec', name, 'sh', '-euc', commands)
const property = (of: string) => shell(`systemctl show --property ${of} --value sluice`)
const journal = () => shell('journalctl --unit sluice --output cat --no-pager')
/** Resolves when the server is ready; what the unit has logged says why it is not. */
async function ready(): Promise<void> {
  await vi
    .waitUntil(() => isReady(url), startsWithin)
    .catch(async () => {
      throw new Error(`the server is not ready: ${await journal()}`)
    })
}

beforeAll(async () => {
  upstream = await startReachableUpstream()
  // What systemd needs, and no more: the settings of the kernel stay read-only, and no device of the machine is there.
  const rights = [
    '--cap-add',
    'SYS_ADMIN',
    '--cap-add',
    'SYS_PTRACE',
    '--security-opt',
    'seccomp=unconfined',
    '--security-opt',
    'apparmor=unconfined',
  ]
  const inMemory = ['/run', '/run/lock', '/tmp:exec'].flatMap((folder) => ['--tmpfs', folder])
  await docker('run', '--detach', '--name', name, '--publish', '3000:3000', ...rights, ...inMemory, 'machine')
  const isUp = async () => (await shell('systemctl is-active multi-user.target').catch(() => '')) === 'active'
  await vi.waitUntil(isUp, startsWithin)
  await installPackage()
  await installUnit()
  await ready()
  site = await furnish(url, rootPassword, await upstream.addressFor(name))
})
afterAll(async () => {
  await docker('rm', '--force', '--volumes', name).catch(() => {})
  await upstream?.stop()
  await removeGroups()
})

async function installPackage(): Promise<void> {
  const [pack = '', install = ''] = documentedCommands('install.md', 'On a machine', '', 'npm pack').split('\n')
  await shell(pack)
  await shell(install.replace('/path/to/sluice-VERSION.tgz', `/root/sluice/sluice-${await shell('cat VERSION')}.tgz`))
}

/** The settings are written once their file is there. */
async function installUnit(): Promise<void> {
  const steps = documentedCommands('install.md', 'On a machine', '', 'sluice.service').split('\n')
  const file = steps.findIndex((line) => line.includes('/etc/sluice/sluice.env'))
  expect(file).toBeGreaterThan(0)
  await shell(steps.slice(0, file + 1).join('\n'))
  await shell(`printf '%s\\n' ${settings.join(' ')} > /etc/sluice/sluice.env`)
  await shell(steps.slice(file + 1).join('\n'))
}

/** The group that docker-entrypoint.sh makes, where the machine's own systemd does not remove it. */
async function removeGroups(): Promise<void> {
  const remove = 'mount -t cgroup2 cgroup2 /mnt; find /mnt/sluice-systemd -depth -type d -exec rmdir {} + 2>/dev/null || true'
  await promisify(execFile)('unshare', ['--mount', 'sh', '-euc', remove])
}

/** A command of the program, as an operator runs it: as the user of the service, with its settings. */
const sluice = (command: string) =>
  shell(`exec runuser --user sluice -- sh -euc \
    'set -a; . /etc/sluice/sluice.env; DATA_DIR=${state}; exec /opt/sluice/node_modules/.bin/sluice ${command} --json'`)

async function requireSound(): Promise<void> {
  for (const command of ['verify', 'doctor']) expect(JSON.parse(await sluice(command)), command).toMatchObject({ ok: true })
}

const chargesOf = (id: string) => site.call<{ items: { quota: number }[] }>(`GET /api/log/?type=2&request_id=${id}`)

it('the unit is valid, starts at boot, and is ready', async () => {
  await shell('systemd-analyze verify /etc/systemd/system/sluice.service')
  expect(await shell('systemctl is-enabled sluice')).toBe('enabled')
  expect(await property('ActiveState')).toBe('active')
  expect(await isReady(url)).toBe(true)
})

it('the server is not root, has no capability, cannot gain any, and may make few system calls', async () => {
  const status = await shell(`cat /proc/${await property('MainPID')}/status`)
  const user = await shell('id --user sluice')
  expect(user).not.toBe('0')
  expect(status).toMatch(new RegExp(`^Uid:(?:\\s${user}){4}$`, 'm'))
  for (const line of [/^CapEff:\s0+$/m, /^CapBnd:\s0+$/m, /^CapAmb:\s0+$/m, /^NoNewPrivs:\s1$/m, /^Seccomp:\s2$/m])
    expect(status).toMatch(line)
})

it('it can write into its state folder and its own /tmp alone, and nobody else can read what it writes', async () => {
  // Root, with every capability, in the file systems that the server sees.
  const write = async (file: string) =>
    shell(`nsenter --mount --root --target ${await property('MainPID')} sh -euc 'touch ${file}; rm ${file}'`)
  for (const folder of ['', '/etc/sluice', '/opt/sluice', '/run', '/usr/local/bin', '/var/lib', '/var/log', '/var/cache'])
    await expect(write(`${folder}/file`), folder).rejects.toThrow(/Read-only file system/)
  for (const folder of ['/root', '/home']) await expect(write(`${folder}/file`), folder).rejects.toThrow(/Read-only|denied/)
  for (const folder of [state, '/tmp']) await write(`${folder}/file`)

  expect(await shell(`stat --format '%U:%G %a' ${state}`)).toBe('sluice:sluice 700')
  expect(await shell(`find ${state} -type f ! -perm 600`)).toBe('')
  expect(await shell(`find / \\( -path /proc -o -path /sys -o -path ${state} \\) -prune -o -user sluice -print`)).toBe('')
})

it('a call is answered and charged once, and its log row is found', async () => {
  const client = new OpenAI({ apiKey: site.key, baseURL: `${url}/v1`, maxRetries: 0 })
  const { data, response } = await client.chat.completions
    .create({ model, messages: [{ role: 'user', content: 'one two three' }] })
    .withResponse()
  expect(data.choices[0]?.finish_reason).toBe('stop')
  const { items } = await chargesOf(response.headers.get('x-request-id') ?? '')
  expect(items).toEqual([expect.objectContaining({ quota: expect.any(Number) })])
  await requireSound()
})

it('a restart keeps users, keys and charges', async () => {
  const { id } = await site.call<{ id: number }>('POST /api/user/', { username: 'harbor', password: 'a long password 1' })
  const { headers } = await ask({ url }, site.key, chat())
  const pid = await property('MainPID')
  await shell('systemctl restart sluice')
  await ready()
  expect(await property('MainPID')).not.toBe(pid)
  expect((await site.call<{ username: string }>(`GET /api/user/${id}`)).username).toBe('harbor')
  expect((await chargesOf(headers.get('x-request-id') ?? '')).items).toHaveLength(1)
  expect((await ask({ url }, site.key, chat())).status).toBe(200)
})

it('a server that is killed is started again', async () => {
  const pid = await property('MainPID')
  await shell('systemctl kill --signal SIGKILL sluice')
  await expect.poll(() => property('MainPID')).not.toMatch(new RegExp(`^(?:0|${pid})$`))
  await ready()
  expect(Number(await property('NRestarts'))).toBe(1)
  expect((await ask({ url }, site.key, chat())).status).toBe(200)
})

/** A stream of so many seconds, which has begun. */
async function beginStream(seconds: number) {
  upstream.program(model, { words: seconds * 10, pauseMs: 100 })
  onTestFinished(() => upstream.program(model, { words: 20, pauseMs: 20 }))
  const asked = upstream.journal.length
  const answer = ask({ url }, site.key, chat({ stream: true }))
  await expect.poll(() => upstream.journal[asked]?.wordsSent ?? 0).toBeGreaterThan(0)
  return { answer }
}

it('a stop lets a running call end, and leaves the whole database in one file; the log is in the journal', async () => {
  const { answer } = await beginStream(8)
  await shell('systemctl stop sluice')
  expect((await answer).text).toMatch(/data: \[DONE\]\n\n$/)
  expect([await property('ActiveState'), await property('Result'), await property('ExecMainStatus')]).toEqual([
    'inactive',
    'success',
    '0',
  ])
  expect((await shell(`ls ${state}`)).split('\n')).toEqual(['app.db', 'app.db-charges-lock', 'ledger-mark.json'])
  expect(await journal()).toMatch(/listens on.*not ready any more.*no more connections are accepted.*"stopped"/s)
  await shell('systemctl start sluice')
  await ready()
  await requireSound()
})

it('a call that outlasts DRAIN_LIMIT is cut and charged within the time that the unit gives a stop', async () => {
  const { answer } = await beginStream(120)
  await shell('systemctl stop sluice')
  const { headers, text } = await answer
  expect(text).toContain('server_stopping')
  // After its time systemd would have killed it.
  expect([await property('Result'), await property('ExecMainStatus')]).toEqual(['success', '0'])
  await shell('systemctl start sluice')
  await ready()
  expect((await chargesOf(headers.get('x-request-id') ?? '')).items).toHaveLength(1)
  await requireSound()
})

it('several processes run in it, too', async () => {
  await shell('echo WORKERS=2 >> /etc/sluice/sluice.env; systemctl restart sluice')
  await ready()
  const metrics = () => evaluate(name, `fetch('${url}/metrics').then((r) => r.text()).then(console.log)`)
  await expect.poll(metrics).toMatch(/^sluice_processes(\{\})? 2$/m)
  for (let calls = 0; calls < 10; calls++) expect((await ask({ url }, site.key, chat())).status).toBe(200)
  await shell('systemctl stop sluice')
  expect([await property('Result'), await property('ExecMainStatus')]).toEqual(['success', '0'])
})
