import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshDatabase } from '../helpers/databases.ts'
import { startProcess } from '../helpers/process.ts'
import { chat, eventually, httpUpstream, model, piece, post, requestBytes } from '../relay/stage.ts'

/** More streams at once than a small machine can hold: CROWD of them (5000), in a memory control group of CROWD_MB (512). Needs root and cgroups of version 1. */
const streams = Number(process.env.CROWD ?? 5000)
const limitMb = Number(process.env.CROWD_MB ?? 512)
const groups = '/sys/fs/cgroup/memory'

describe.skipIf(!existsSync(`${groups}/cgroup.procs`) || process.getuid?.() !== 0)('a machine with little memory', () => {
  it(`[T210] ${streams} streams in ${limitMb} MB are served or refused with a retry, and memory returns to its level`, async () => {
    const database = await freshDatabase('sqlite')
    onTestFinished(() => database.drop())
    let isOver = false
    const url = await httpUpstream(async (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      while (!isOver && !response.destroyed) {
        response.write(piece('word '))
        await pause(2000)
      }
      response.end(`${piece('', 'stop')}data: [DONE]\n\n`)
    })
    const server = await startProcess(database)
    const group = `${groups}/sluice-${process.pid}`
    onTestFinished(async () => {
      await server.kill('SIGKILL')
      rmdirSync(group)
    })
    await server.call('POST /api/channel/', { name: 'x', type: 1, key: 'k', base_url: url, models: model })
    const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })
    await server.call('POST /api/user/1/quota', { change: 100_000_000_000, reason: 'crowd' })
    mkdirSync(group)
    writeFileSync(`${group}/memory.limit_in_bytes`, `${limitMb * 1024 * 1024}`)
    writeFileSync(`${group}/cgroup.procs`, `${server.pid}`)

    const body = JSON.stringify(chat({ stream: true, max_tokens: 10 }))
    const { port } = new URL(server.url)
    const heads: Record<string, number> = {}
    const sockets = Array.from({ length: streams }, () => {
      const socket = connect(Number(port), '127.0.0.1')
      socket.once('data', (data) => {
        const head = data.toString('latin1')
        const told = `${head.slice(9, 12)}${head.startsWith('HTTP/1.1 503') && /retry-after/i.test(head) ? ' with Retry-After' : ''}`
        heads[told] = (heads[told] ?? 0) + 1
        socket.resume()
      })
      socket.on('error', (error: NodeJS.ErrnoException) => {
        const told = `broken ${error.code}`
        heads[told] = (heads[told] ?? 0) + 1
      })
      socket.write(requestBytes(`sk-${key}`, body))
      return socket
    })
    for (let seconds = 0; seconds < 60 && Object.values(heads).reduce((sum, count) => sum + count, 0) < streams; seconds++)
      await pause(1000)
    const peakMb = Number(readFileSync(`${group}/memory.max_usage_in_bytes`, 'utf8')) / 1024 / 1024
    console.log(`${JSON.stringify(heads)}, ${Math.round(peakMb)} MB at most`)
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    expect(Object.keys(heads).filter((told) => told !== '200' && told !== '503 with Retry-After')).toEqual([])
    expect(Object.values(heads).reduce((sum, count) => sum + count, 0)).toBe(streams)
    expect(readFileSync(`${group}/memory.oom_control`, 'utf8')).toMatch(/oom_kill 0|under_oom 0/)

    for (const socket of sockets) socket.destroy()
    isOver = true
    const leftAt = performance.now()
    await eventually('an ordinary request is answered', async () => {
      const answer = await post(server, `sk-${key}`, chat({ stream: true }))
      return (await answer.text()).includes('[DONE]')
    })
    const backMs = performance.now() - leftAt
    console.log(`an ordinary request is answered ${Math.round(backMs)} ms after they left`)
    expect(backMs).toBeLessThan(10_000)
    expect(await server.kill('SIGTERM')).toBe(0)
  }, 300_000)
})
