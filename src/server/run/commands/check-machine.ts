import { access, constants, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { newRedisClient, redisFailure } from '../../base/bus/redis-client.ts'
import { type Env, localUrl } from '../../base/env.ts'
import { messageOf } from '../../base/lib/failure.ts'
import { riskyProxies } from '../../base/lib/net/client-address.ts'
import { guardedConnector } from '../../base/lib/net/guarded-connect.ts'
import { callConfigured, UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { proxyPort } from '../../base/lib/net/parse-url.ts'
import { reachProxy } from '../../base/lib/net/proxy-connect.ts'
import { systemResolve } from '../../base/lib/net/resolve-name.ts'
import { descriptorLimit, descriptorsLeast } from '../../base/lib/process/descriptors.ts'
import { portUser } from '../../base/lib/process/port-user.ts'
import { type Check, failed } from './check.ts'

/** Checks what the settings need of the machine and its network. */
export async function checkMachine(env: Env): Promise<Check[]> {
  return [
    checkProcesses(env),
    ...checkDescriptors(),
    ...checkProxies(env),
    ...(await checkOutgoingProxies(env)),
    await checkPort(env),
    ...(env.DATABASE_URL === '' ? [await checkDisk(env.DATA_DIR)] : []),
    ...(env.REDIS_URL === '' ? [] : [await checkRedis(env.REDIS_URL)]),
  ]
}

/** A fetched Node that is older gets a warning: security releases come about every two months. */
const daysFresh = 90

/** `FETCHED_NODE` is set by `scripts/run.mjs`: the day on which the Node that it fetched was published. */
export function checkNode(): Check {
  const { node } = process.versions
  const { FETCHED_NODE } = process.env
  if (FETCHED_NODE === undefined) return { name: 'Node', state: 'ok', found: node }
  const days = Math.floor((Date.now() - Date.parse(FETCHED_NODE)) / 86_400_000)
  const found = `${node}, fetched from npm; this version is ${days} days old`
  if (days <= daysFresh) return { name: 'Node', state: 'ok', found }
  const advice = 'Install Node 24 on this machine: a fetched one is only replaced when Sluice is updated.'
  return { name: 'Node', state: 'warning', found, advice }
}

function checkProcesses({ WORKERS }: Env): Check {
  const cores = availableParallelism()
  const base = { name: 'Processes', found: `WORKERS=${WORKERS} on ${cores} ${cores === 1 ? 'core' : 'cores'}` }
  if (WORKERS <= cores) return { ...base, state: 'ok' }
  return {
    ...base,
    state: 'warning',
    advice: 'More processes than cores only take memory. WORKERS=auto starts one for each core.',
  }
}

function checkProxies({ TRUSTED_PROXIES }: Env): Check[] {
  if (TRUSTED_PROXIES === '') return []
  const name = 'Proxies'
  const risky = riskyProxies(TRUSTED_PROXIES)
  if (risky.length === 0) return [{ name, state: 'ok', found: TRUSTED_PROXIES }]
  const found = `TRUSTED_PROXIES trusts ${risky.join(', ')}: every address, or the gateway of this machine`
  const advice =
    'Name the fixed address of the proxy alone: everybody behind a trusted address can name another one as their own.'
  return [{ name, state: 'warning', found, advice }]
}

/** Below this limit the busiest sites run out: each streamed call has a connection of its caller and one to its channel. */
const descriptorsEnough = 4096

/** A service may have another limit than the shell that this runs in. */
function checkDescriptors(): Check[] {
  const limit = descriptorLimit()
  if (limit === undefined) return []
  const base = { name: 'Open files', found: `at most ${limit} files and connections in a process of this shell` }
  if (limit >= descriptorsEnough) return [{ ...base, state: 'ok' }]
  const advice = `A call takes two. Allow 65536 by LimitNOFILE of a systemd unit, the ulimits of a container or ulimit -n; fewer than ${descriptorsLeast} do not start.`
  return [{ ...base, state: limit < descriptorsLeast ? 'failed' : 'warning', advice }]
}

/** Checks that the proxies of the environment can be reached. What they answer for each channel is told with the channel. */
async function checkOutgoingProxies(env: Env): Promise<Check[]> {
  const settings = (['HTTPS_PROXY', 'HTTP_PROXY'] as const).filter((setting) => env[setting] !== '')
  const connect = guardedConnector({ resolve: systemResolve(), allows: () => true }, 5000)
  return Promise.all(
    settings.map(async (setting): Promise<Check> => {
      const name = 'Outgoing proxy'
      const proxy = new URL(env[setting])
      try {
        const socket = await reachProxy(proxy, connect)
        socket.destroy()
        const excepted = env.NO_PROXY === '' ? '' : `, but for ${env.NO_PROXY}`
        return { name, state: 'ok', found: `${setting}: ${proxy.hostname}:${proxyPort(proxy)} accepts connections${excepted}` }
      } catch (error) {
        const advice = `Correct ${setting}, or except what is reached without it in NO_PROXY: channels without a proxy of their own depend on it.`
        return failed(name, `${setting}: ${messageOf(error)}`, advice)
      }
    }),
  )
}

/** Checks that the port is free, or used by a Sluice server. */
async function checkPort(env: Env): Promise<Check> {
  const { HOST, PORT } = env
  const name = 'Port'
  const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    const server = createServer()
    server.once('error', resolve)
    server.listen(PORT, HOST, () => server.close(() => resolve(undefined)))
  })
  if (!error) return { name, state: 'ok', found: `${HOST}:${PORT} is free` }
  if (error.code !== 'EADDRINUSE')
    return failed(
      name,
      `${HOST}:${PORT}: ${error.message}`,
      'Set HOST to an address of this machine and PORT to one that may be used.',
    )
  const running = await runningVersion(localUrl(env))
  if (running !== undefined) return { name, state: 'ok', found: `Sluice ${running} listens on ${HOST}:${PORT}` }
  const user = portUser(PORT) ?? 'another program'
  return failed(name, `${HOST}:${PORT} is used by ${user}`, 'Set PORT to a free one, or stop that program.')
}

async function runningVersion(address: string): Promise<string | undefined> {
  const url = `${address}/api/status`
  const agents = new UpstreamAgents()
  try {
    const { body } = await callConfigured(agents, { url, timeoutMs: 3000, sizeBytesMax: mega })
    const answer = JSON.parse(body.toString('utf8')) as { data?: { sluice_version?: unknown } }
    return typeof answer.data?.sluice_version === 'string' ? answer.data.sluice_version : undefined
  } catch {
    return undefined
  } finally {
    await agents.close()
  }
}

const mega = 1024 * 1024
const freeLeast = 100 * mega
const freeEnough = 1024 * mega

async function checkDisk(folder: string): Promise<Check> {
  const name = 'Disk'
  try {
    await access(folder, constants.W_OK)
    const { bavail, bsize } = await statfs(folder)
    const free = bavail * bsize
    const found = `${Math.floor(free / mega)} MB free in ${folder}`
    if (free >= freeEnough) return { name, state: 'ok', found }
    const advice = 'Make room, or shorten how long the log is kept: a charge that cannot be written ends new calls.'
    return { name, state: free < freeLeast ? 'failed' : 'warning', found, advice }
  } catch (error) {
    return failed(name, messageOf(error), 'DATA_DIR must be a folder that the user of the server may write to.')
  }
}

async function checkRedis(url: string): Promise<Check> {
  const client = await newRedisClient({ url, commandsMax: 10 })
  try {
    await new Promise<void>((resolve, reject) => {
      // Otherwise it would try again.
      client.on('error', reject)
      setTimeout(() => reject(new Error('it did not answer in time')), 4000).unref()
      client
        .connect()
        .then(() => client.ping())
        .then(() => resolve(), reject)
    })
    return { name: 'Redis', state: 'ok', found: 'answers' }
  } catch (error) {
    const advice = 'Without Redis news and limits go over the database, and each node counts for itself on SQLite.'
    return { name: 'Redis', state: 'warning', found: `Redis ${redisFailure(error).reason}`, advice }
  } finally {
    client.destroy()
  }
}
