import { readFileSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshDatabase } from '../helpers/databases.ts'
import { startProcess } from '../helpers/process.ts'
import { httpUpstream, upstreamKey } from './stage.ts'
import { post, readAnswer, streams, ways } from './trust-stage.ts'

// What the cases of the trust reference may cost in memory, measured on a server in a process of its own.

const mb = 1024 * 1024

/** The most memory that a process has had since `reset`, in bytes. */
const peakOf = (pid: number) => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
const resetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, '5')

describe.runIf(process.platform === 'linux')('memory', () => {
  it.each(ways.map((way) => [way.name, way] as const))(
    '[T101] [T104] %s: endless lines and bombs grow no server',
    async (_name, way) => {
      const bomb = gzipSync(Buffer.alloc(300 * mb, 32))
      const url = await httpUpstream((request, response) => {
        request.resume()
        response.on('error', () => {})
        if (request.url?.includes('bomb')) {
          response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb)
          return
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`${streams[way.speaks].head}data: `)
        const piece = Buffer.alloc(64 * 1024, 'a')
        const pump = () => {
          while (!response.destroyed) if (!response.write(piece)) return void response.once('drain', pump)
        }
        pump()
      })
      const database = await freshDatabase('sqlite')
      const server = await startProcess(database)
      onTestFinished(async () => {
        await server.kill('SIGKILL')
        await database.drop()
      })
      const type = way.speaks === 'anthropic' ? 14 : 1
      for (const [name, path] of [
        ['line', ''],
        ['bomb', '/bomb'],
      ])
        await server.call('POST /api/channel/', { name, type, key: upstreamKey, base_url: url + path, models: name })
      await server.call('PUT /api/option/', { key: 'ModelRatio', value: '{"line":1,"bomb":1}' })
      const token = await server.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })

      for (const [model, stream] of [
        ['line', true],
        ['bomb', false],
        ['bomb', true],
      ] as const) {
        resetPeak(server.pid)
        const before = peakOf(server.pid)
        const body = { model, stream, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
        const answer = await post(server, `sk-${token.key}`, way.asks, body)
        expect([model, readAnswer(way.asks, answer).ending]).toEqual([model, 'error'])
        const grown = (peakOf(server.pid) - before) / mb
        // A whole answer may have 64 MB, and the pieces that unpacking makes come on top until they are collected.
        const most = stream ? 64 : 96
        expect([model, stream, grown <= most, Math.round(grown)]).toEqual([model, stream, true, Math.round(grown)])
      }
    },
  )
})
