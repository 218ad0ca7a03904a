import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { nameServerOfTest, type Said } from '../../../../../test/helpers/name-server.ts'
import { lookupMaxMs, type NameSources, systemResolve } from './resolve-name.ts'

const notAsked = () => Promise.reject(new Error('the system was asked'))

/** A resolver with `answer` as its only name server. */
async function resolverOf(answer: (name: string, family: 4 | 6) => Said, hosts = '', more: NameSources = { system: notAsked }) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-hosts-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const hostsFile = join(folder, 'hosts')
  writeFileSync(hostsFile, hosts)
  const server = await nameServerOfTest(answer)
  return { server, hostsFile, resolve: systemResolve({ servers: [server.address], hostsFile, ...more }) }
}

const only4 = (_name: string, family: 4 | 6) => (family === 4 ? ['192.0.2.1'] : [])
const systemSays = async (hostname: string) => [{ address: hostname === 'printer.local' ? '10.0.0.9' : '10.0.0.1', family: 4 }]
const codeOf = (found: Promise<unknown>) =>
  found.then(
    () => 'found',
    (error) => error.code,
  )

describe('looking up a name', () => {
  it('queries name servers for IPv4 and IPv6 addresses', async () => {
    const { resolve } = await resolverOf((_name, family) =>
      family === 4 ? ['192.0.2.1', '192.0.2.2'] : ['2001:db8:0:0:0:0:0:1'],
    )
    expect(await resolve('model.test')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ])
  })

  it('sends one query for concurrent lookups of a name, and another for the next', async () => {
    const { resolve, server } = await resolverOf(only4)
    await Promise.all(Array.from({ length: 50 }, () => resolve('model.test')))
    expect(server.asked.filter(({ family }) => family === 4)).toHaveLength(1)
    await resolve('model.test')
    expect(server.asked.filter(({ family }) => family === 4)).toHaveLength(2)
  })

  it('prefers the current content of the hosts file', async () => {
    const { resolve, hostsFile, server } = await resolverOf(only4, '10.1.1.1 Model.test other # a comment\n::7 model.test\n')
    const listed = [
      { address: '10.1.1.1', family: 4 },
      { address: '::7', family: 6 },
    ]
    expect([await resolve('model.test'), await resolve('MODEL.TEST.'), await resolve('other')]).toEqual([
      listed,
      listed,
      [listed[0]],
    ])
    expect(server.asked).toEqual([])
    writeFileSync(hostsFile, '10.1.1.2 model.test and more\n')
    expect(await resolve('model.test')).toEqual([{ address: '10.1.1.2', family: 4 }])
    rmSync(hostsFile)
    expect(await resolve('model.test')).toEqual([{ address: '192.0.2.1', family: 4 }])
  })

  it('never queries a server for names of this machine', async () => {
    const { resolve, server } = await resolverOf(() => ['192.0.2.1'])
    for (const name of ['localhost', 'localhost.', 'a.localhost', 'LOCALHOST'])
      expect(await resolve(name)).toEqual([
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ])
    expect(server.asked).toEqual([])
  })

  it('asks the system only for names that DNS does not have', async () => {
    const { resolve } = await resolverOf((name) => (name === 'broken.test' ? 'SERVFAIL' : 'NXDOMAIN'), '', { system: systemSays })
    expect(await resolve('printer.local')).toEqual([{ address: '10.0.0.9', family: 4 }])
    expect(await codeOf(resolve('broken.test'))).toBe('ESERVFAIL')
    const { resolve: alone } = await resolverOf((_name, family) => (family === 4 ? [] : 'NXDOMAIN'), '', {
      system: () => Promise.reject(Object.assign(new Error(), { code: 'EAI_NONAME' })),
    })
    expect(await codeOf(alone('nowhere.test'))).toBe('EAI_NONAME')
  })

  it('does not wait for a server that ignores queries for one of the families', async () => {
    const { resolve } = await resolverOf((_name, family) => (family === 4 ? ['192.0.2.1'] : 'silence'))
    expect(await resolve('model.test')).toEqual([{ address: '192.0.2.1', family: 4 }])
  })

  it('[T120] gives up on silent servers in time, without delaying other names or the threads of the process', async () => {
    expect(lookupMaxMs).toBeLessThan(5000)
    const { resolve } = await resolverOf((name, family) => (name.startsWith('slow') ? 'silence' : only4(name, family)), '', {
      deadlineMs: 4000,
    })
    let given = 0
    const slow = Array.from({ length: 200 }, (_, index) => codeOf(resolve(`slow${index}.test`)).finally(() => given++))
    expect(await resolve('model.test')).toEqual([{ address: '192.0.2.1', family: 4 }])
    // `stat` needs a thread of the pool.
    await stat('/')
    expect(given).toBe(0)
    for (const code of await Promise.all(slow)) expect(code).toMatch(/^E(CANCELLED|TIMEOUT)$/)
  })

  it('[T120] leaves threads free while the system resolves names that DNS does not have', async () => {
    const free: (() => void)[] = []
    let most = 0
    const system = () => {
      most = Math.max(most, free.length + 1)
      return new Promise<never>((_resolve, reject) => free.push(() => reject(Object.assign(new Error(), { code: 'EAI_AGAIN' }))))
    }
    const { resolve } = await resolverOf(() => 'NXDOMAIN', '', { system, deadlineMs: 800 })
    const codes = await Promise.all(Array.from({ length: 20 }, (_, index) => codeOf(resolve(`slow${index}.test`))))
    expect([most, new Set(codes)]).toEqual([2, new Set(['ETIMEOUT'])])
    for (const end of free) end()
  })
})
