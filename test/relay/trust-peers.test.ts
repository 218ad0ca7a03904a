import type { ServerResponse } from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { systemResolve } from '../../src/server/base/lib/net/resolve-name.ts'
import { authority, certificates, leafKey } from '../helpers/certificates-of-upstreams.ts'
import { closing, listeningPort } from '../helpers/listening.ts'
import { type NameServer, startNameServer } from '../helpers/name-server.ts'
import { hasNginx, startNginx } from '../helpers/nginx.ts'
import type { RunningProxy } from '../helpers/proxy-process.ts'
import { scaledByLoad } from '../helpers/scaled-by-load.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { httpUpstream, requestBytes, speak } from './stage.ts'
import {
  type FormatPair,
  formatPairs,
  healthyAnswer,
  paths,
  post,
  readAnswer,
  reported,
  streams,
  trustOfSuite,
} from './trust-stage.ts'

// Host names, certificates and proxies around the server: the cases of parts E and F of docs/reference/trust-cases.md that need no
// database.

const usual = [{ ...reported, quota: reported.prompt + reported.completion }]

describe('peers, beside ordinary requests', () => {
  let names: NameServer
  let settled: () => void = () => {}
  const trust = trustOfSuite('sqlite', async () => {
    names = await startNameServer((name, family) => {
      if (name.startsWith('slow')) return 'silence'
      if (name.startsWith('broken')) return 'SERVFAIL'
      if (name.startsWith('unknown')) return 'NXDOMAIN'
      return family === 4 ? ['127.0.0.1'] : []
    })
    const system = () => Promise.reject(Object.assign(new Error('There is no such name'), { code: 'EAI_NONAME' }))
    const resolve = systemResolve({ servers: [names.address], hostsFile: '/nowhere/hosts', system, deadlineMs: 8000 })
    return { upstream: { resolve, certificates: authority } }
  })
  afterAll(() => names.stop())

  const answering = (pair: FormatPair) => (response: ServerResponse, body: { stream?: boolean }) => {
    const answer = healthyAnswer(pair.speaks, body, 'four five six')
    response.writeHead(200, { 'content-type': answer.type }).end(answer.body)
  }

  it('[T120] calls to host names that are unknown, broken or never resolved end in time, without delaying others', () =>
    trust.underLoad(async () => {
      const lanes = await Promise.all(
        ['unknown.test', 'broken.test', 'slow.test'].flatMap((name) =>
          formatPairs.map((pair) => trust.lane(pair, `http://${name}`, { setting: { connect_timeout_ms: 12_000 } })),
        ),
      )
      const pair = formatPairs[0] as FormatPair
      const named = await httpUpstream((request, response) => {
        request.resume()
        answering(pair)(response, {})
      })
      const good = await trust.lane(pair, named.replace('127.0.0.1', 'model.test'))
      let ended = 0
      const asked = Array.from({ length: 200 }, async (_, index) => {
        // The remainder is a valid index of the list.
        const lane = lanes[index % lanes.length] as (typeof lanes)[number]
        const answer = await lane.ask(index % 2 === 0)
        if (lane.model === slowest?.model) ended++
        expect([answer.status, readAnswer(lane.pair.asks, answer).ending]).toEqual([502, 'error'])
      })
      const slowest = lanes.at(-1)
      expect(readAnswer('openai', await good.ask(false))).toMatchObject({ said: 'four five six', ending: 'done' })
      expect(ended).toBe(0)
      await Promise.all(asked)
      for (const lane of lanes) expect(await lane.charged()).toEqual([])
      expect(await good.charged()).toMatchObject(usual)
    }))

  it('[T113] no key is sent over an expired, foreign or untrusted certificate, or old TLS', () =>
    trust.underLoad(async () => {
      const cases: [string, https.ServerOptions, number][] = [
        ['good', { cert: certificates.good }, 200],
        ['expired', { cert: certificates.expired }, 502],
        ['of another name', { cert: certificates.otherName }, 502],
        ['signed by itself', { cert: certificates.selfSigned }, 502],
        ['TLS 1.0', { cert: certificates.good, minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }, 502],
        [
          'TLS 1.1',
          { cert: certificates.good, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
          502,
        ],
      ]
      for (const [name, options, status] of cases) {
        for (const pair of formatPairs.slice(0, 2)) {
          let requests = 0
          const server = https.createServer({ key: leafKey, ...options }, (request, response) => {
            requests++
            request.resume()
            answering(pair)(response, {})
          })
          onTestFinished(() => void closing(server))
          const lane = await trust.lane(pair, `https://upstream.test:${await listeningPort(server)}`)
          expect([name, (await lane.ask(false)).status, requests]).toEqual([name, status, status === 200 ? 1 : 0])
          expect(await lane.charged()).toMatchObject(status === 200 ? usual : [])
        }
      }
    }))

  it('[T114] an upstream that offers HTTP/2 is called with HTTP/1.1, and one with nothing else is not called', () =>
    trust.underLoad(async () => {
      for (const allowHTTP1 of [true, false]) {
        const spoken: string[] = []
        const server = http2.createSecureServer({ key: leafKey, cert: certificates.good, allowHTTP1 }, (request, response) => {
          spoken.push(request.httpVersion)
          request.resume()
          // With HTTP/1 the answer is one of `node:http`.
          answering(formatPairs[0] as FormatPair)(response as unknown as ServerResponse, {})
        })
        onTestFinished(() => void server.close())
        const lane = await trust.lane(formatPairs[0] as FormatPair, `https://upstream.test:${await listeningPort(server)}`)
        const { status } = await lane.ask(false)
        expect([status, spoken]).toEqual(allowHTTP1 ? [200, ['1.1']] : [502, []])
        expect(await lane.charged()).toMatchObject(allowHTTP1 ? usual : [])
      }
    }))

  describe.runIf(hasNginx)('behind nginx', () => {
    let buffering: RunningProxy
    let streaming: RunningProxy
    beforeAll(async () => {
      buffering = await startNginx(trust.server.url, { without: ['proxy_request_buffering off;'] })
      streaming = await startNginx(trust.server.url)
      return () => Promise.all([buffering.stop(), streaming.stop()])
    })

    it('[T131] nginx and the server read the same requests from the same bytes, or refuse them, and no caller gets the answer of another', () =>
      trust.underLoad(async () => {
        const upstream = await upstreamOfTest()
        const lane = await trust.lane(formatPairs[0] as FormatPair, upstream.url)
        const inner = requestBytes(
          lane.key,
          JSON.stringify({ ...lane.body(false), messages: [{ role: 'user', content: 'smuggled' }] }),
        )
        const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${lane.key}\r\ncontent-type: application/json\r\n`
        const chunk = (bytes: string) => `${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n0\r\n\r\n`
        const body = JSON.stringify(lane.body(false))
        const cases: [string, string][] = [
          ['CL.TE', `${head}content-length: 6\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${inner}`],
          ['TE.CL', `${head}transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n${chunk(inner)}`],
          ['TE.TE', `${head}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n${inner}`],
          ['TE with a tab', `${head}transfer-encoding:\tchunked\r\n\r\n${chunk(body)}${inner}`],
          [
            'TE with a vertical tab',
            `${head}transfer-encoding: \x0bchunked\r\ncontent-length: ${body.length}\r\n\r\n${body}${inner}`,
          ],
          [
            'TE on a folded line',
            `${head}transfer-encoding:\r\n chunked\r\ncontent-length: ${body.length}\r\n\r\n${body}${inner}`,
          ],
          ['TE xchunked', `${head}transfer-encoding: xchunked\r\ncontent-length: ${body.length}\r\n\r\n${body}${inner}`],
          ['two lengths', `${head}content-length: 0\r\ncontent-length: ${inner.length}\r\n\r\n${inner}`],
          ['a length with a sign', `${head}content-length: +${inner.length}\r\n\r\n${inner}`],
          ['a list of lengths', `${head}content-length: 0, ${inner.length}\r\n\r\n${inner}`],
          [
            'a space before the colon',
            `${head}transfer-encoding : chunked\r\ncontent-length: ${body.length}\r\n\r\n${body}${inner}`,
          ],
          ['bare line feeds', `${head.replaceAll('\r\n', '\n')}content-length: ${body.length}\n\n${body}${inner}`],
          [
            'a bare carriage return',
            `${head}x-a: b\rtransfer-encoding: chunked\r\ncontent-length: ${body.length}\r\n\r\n${body}${inner}`,
          ],
          ['a chunk extension with a line feed', `${head}transfer-encoding: chunked\r\n\r\n2;a\nxx\r\n0\r\n\r\n${inner}`],
          ['chunks with leading zeros', `${head}transfer-encoding: chunked\r\n\r\n000${chunk(body)}${inner}`],
          [
            'a header with an underscore',
            `${head}transfer_encoding: chunked\r\ncontent-length: ${body.length}\r\n\r\n${body}${inner}`,
          ],
          ['a trailer', `${head}transfer-encoding: chunked\r\n\r\n${chunk(body).slice(0, -2)}content-length: 9\r\n\r\n${inner}`],
          [
            'a body of a GET',
            `GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${lane.key}\r\ncontent-length: ${inner.length}\r\n\r\n${inner}`,
          ],
          [
            'an upgrade',
            `${head}connection: upgrade\r\nupgrade: websocket\r\ncontent-length: ${body.length}\r\n\r\n${body}${inner}`,
          ],
          [
            'an absolute path that is another',
            `POST http://x/v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${lane.key}\r\ncontent-length: ${body.length}\r\n\r\n${body}${inner}`,
          ],
        ]
        for (const nginx of [buffering, streaming]) {
          for (const [name, bytes] of cases) {
            const before = upstream.journal.length
            // Written by the attacker, so that the connection ends in either interpretation of the bytes.
            const attacker = speak(
              nginx,
              Buffer.from(`${bytes}GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`, 'latin1'),
            )
            const got = await Promise.race([
              attacker.until(() => false),
              new Promise<string>((resolve) => setTimeout(resolve, scaledByLoad(3000), 'open')),
            ])
            attacker.socket.destroy()
            for (const words of ['victim one', 'victim two']) {
              const victim = await post(nginx, lane.key, 'openai', {
                ...lane.body(false),
                messages: [{ role: 'user', content: words }],
              })
              expect([name, readAnswer('openai', victim).said]).toEqual([name, `You said: ${words}`])
            }
            // Every request that reached the upstream was answered to its sender.
            const answered = (got.match(/You said: /g) ?? []).length
            expect([name, got.slice(0, 20), upstream.journal.length - before - 2]).toEqual([name, got.slice(0, 20), answered])
            expect([name, answered <= 2]).toEqual([name, true])
          }
        }
      }))

    it('[T140] a stream passes nginx with its default buffering, word by word', () =>
      trust.underLoad(async () => {
        for (const pair of formatPairs) {
          const { head, text, tail } = streams[pair.speaks]
          const url = await httpUpstream((request, response) => {
            request.resume()
            response.writeHead(200, { 'content-type': 'text/event-stream' }).write(head + text('four '))
            settled = () => response.end(text('five') + tail)
          })
          const lane = await trust.lane(pair, url)
          const response = await fetch(buffering.url + paths[pair.asks], {
            method: 'POST',
            headers: { authorization: `Bearer ${lane.key}`, 'content-type': 'application/json' },
            body: JSON.stringify(lane.body(true)),
          })
          const decoder = new TextDecoder()
          let got = ''
          // The types are those of the browser, in which a body cannot be iterated.
          for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
            got += decoder.decode(piece, { stream: true })
            // The upstream continues only after the first text has arrived.
            if (got.includes('four')) settled()
          }
          expect(readAnswer(pair.asks, { status: 200, headers: response.headers, text: got })).toMatchObject({
            said: 'four five',
            ending: 'done',
          })
          expect(await lane.charged()).toMatchObject(usual)
        }
      }))
  })
})
