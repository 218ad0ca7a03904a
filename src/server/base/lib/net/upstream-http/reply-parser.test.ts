import { describe, expect, it } from 'vitest'
import { MalformedReply, type ReplyHeaders, ReplyParser } from './reply-parser.ts'

interface Read {
  status: number
  headers: ReplyHeaders
  body: string
  pieces: number
  isDone: boolean
  keepsAlive: boolean
}

/** Reads a reply that arrives in these pieces. */
function read(pieces: readonly string[], isClosed = false): Read {
  const seen = { status: 0, headers: {} as ReplyHeaders, body: '', pieces: 0, isDone: false }
  const parser = new ReplyParser({
    head: (status, headers) => Object.assign(seen, { status, headers }),
    data(bytes) {
      seen.body += bytes.toString('latin1')
      seen.pieces++
    },
    end() {
      seen.isDone = true
    },
  })
  for (const piece of pieces) parser.push(Buffer.from(piece, 'latin1'))
  if (isClosed) parser.close()
  return { ...seen, keepsAlive: parser.keepsAlive }
}

/** The same reply in one piece, byte by byte, and in two pieces cut at every position. */
function cuts(reply: string): string[][] {
  const halves = Array.from({ length: reply.length - 1 }, (_, index) => [reply.slice(0, index + 1), reply.slice(index + 1)])
  return [[reply], [...reply], ...halves]
}

const line = 'HTTP/1.1 200 OK\r\n'

describe('a reply', () => {
  it.each([
    ['with a length', `${line}Content-Length: 5\r\n\r\nhello`, 'hello', true],
    ['without a reason', 'HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello', 'hello', true],
    ['without a body', `${line}content-length: 0\r\n\r\n`, '', true],
    ['of status 204', 'HTTP/1.1 204 No Content\r\n\r\n', '', true],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello', 'hello', false],
    ['of HTTP/1.0 on a kept connection', 'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi', 'hi', true],
    ['that closes', `${line}Connection: foo, CLOSE\r\nContent-Length: 2\r\n\r\nhi`, 'hi', false],
    [
      'in chunks',
      `${line}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n`,
      'hello world',
      true,
    ],
    ['with extensions', `${line}Transfer-Encoding: Chunked\r\n\r\n00A;a="b";c\r\n0123456789\r\n0;x\r\n\r\n`, '0123456789', true],
    ['with trailers', `${line}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nSum: 1\r\nEnd: yes\r\n\r\n`, 'hi', true],
    [
      'behind interim replies',
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n${line}Content-Length: 2\r\n\r\nhi`,
      'hi',
      true,
    ],
  ])('%s is read in pieces of any size', (_title, reply, body, keepsAlive) => {
    for (const pieces of cuts(reply))
      expect(read(pieces), JSON.stringify(pieces)).toMatchObject({ body, keepsAlive, isDone: true })
  })

  it('without a length ends with its connection', () => {
    for (const pieces of cuts(`${line}\r\nhello`)) {
      expect(read(pieces)).toMatchObject({ body: 'hello', isDone: false })
      expect(read(pieces, true)).toMatchObject({ body: 'hello', isDone: true, keepsAlive: false })
    }
  })

  it('that is truncated is never complete', () => {
    expect(read([`${line}Content-Length: 5\r\n\r\nhell`], true)).toMatchObject({ body: 'hell', isDone: false })
    expect(read([`${line}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`], true)).toMatchObject({
      body: 'hello',
      isDone: false,
    })
    expect(read(['HTTP/1.1 200 OK\r\nContent-'], true)).toMatchObject({ status: 0, isDone: false })
  })

  it('has header names in lower case, and a list of values for a repeated header', () => {
    const { headers } = read([
      `${line}A-b:  c d \r\nSet-Cookie: 1\r\nset-cookie: 2\r\nSET-COOKIE:\t3\r\n__proto__: x\r\nContent-Length: 0\r\n\r\n`,
    ])
    expect({ ...headers }).toEqual({ 'a-b': 'c d', 'set-cookie': ['1', '2', '3'], ['__proto__']: 'x', 'content-length': '0' })
  })

  it('in many chunks that arrive at once is passed on as one piece', () => {
    const chunks = Array.from({ length: 100 }, (_, index) => `data: ${index}\n\n`)
    const framed = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')
    const { body, pieces } = read([`${line}Transfer-Encoding: chunked\r\n\r\n${framed}0\r\n\r\n`])
    expect({ body, pieces }).toEqual({ body: chunks.join(''), pieces: 1 })
  })

  it('followed by more bytes is complete, but its connection is not reused', () => {
    const reply = `${line}Content-Length: 2\r\n\r\nhi`
    expect(read([`${reply}HTTP/1.1 200 OK\r\n`])).toMatchObject({ body: 'hi', isDone: true, keepsAlive: false })
  })

  it.each([
    ['another protocol', 'SSH-2.0-OpenSSH\r\n\r\n'],
    ['HTTP/2', 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n'],
    ['lines that end in LF', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n'],
    ['a header line that ends in LF', `${line}A: b\nContent-Length: 0\r\n\r\n`],
    ['a bare CR', `${line}A: b\rc\r\nContent-Length: 0\r\n\r\n`],
    ['a NUL', `${line}A: b\0c\r\nContent-Length: 0\r\n\r\n`],
    ['a folded line', `${line}A: b\r\n c\r\nContent-Length: 0\r\n\r\n`],
    ['a space before the colon', `${line}Content-Length : 0\r\n\r\n`],
    ['a header without a name', `${line}: b\r\nContent-Length: 0\r\n\r\n`],
    ['a header without a colon', `${line}A\r\nContent-Length: 0\r\n\r\n`],
    ['two lengths', `${line}Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi`],
    ['a list of lengths', `${line}Content-Length: 2, 2\r\n\r\nhi`],
    ['a signed length', `${line}Content-Length: +2\r\n\r\nhi`],
    ['a length of letters', `${line}Content-Length: 0x2\r\n\r\nhi`],
    ['a length beyond all numbers', `${line}Content-Length: 99999999999999999999\r\n\r\nhi`],
    ['a length beside chunks', `${line}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`],
    ['a coding that is not known', `${line}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['two codings', `${line}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a chunk without a size', `${line}Transfer-Encoding: chunked\r\n\r\n\r\nhi\r\n0\r\n\r\n`],
    ['a chunk of a signed size', `${line}Transfer-Encoding: chunked\r\n\r\n-2\r\nhi\r\n0\r\n\r\n`],
    ['a space behind the size', `${line}Transfer-Encoding: chunked\r\n\r\n2 \r\nhi\r\n0\r\n\r\n`],
    ['a chunk size that ends in LF', `${line}Transfer-Encoding: chunked\r\n\r\n2\nhi\r\n0\r\n\r\n`],
    ['a chunk longer than its size', `${line}Transfer-Encoding: chunked\r\n\r\n2\r\nhim\r\n0\r\n\r\n`],
    ['a chunk that ends in LF', `${line}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\n0\r\n\r\n`],
    ['a size of too many digits', `${line}Transfer-Encoding: chunked\r\n\r\n0000000000002\r\nhi\r\n0\r\n\r\n`],
    ['a line break in an extension', `${line}Transfer-Encoding: chunked\r\n\r\n2;a\nb\r\nhi\r\n0\r\n\r\n`],
    ['extensions without an end', `${line}Transfer-Encoding: chunked\r\n\r\n${'1;aaaaaaaaaaaaaaa\r\nx\r\n'.repeat(1100)}`],
    ['a length that is none, before no body', 'HTTP/1.1 204 No Content\r\nContent-Length: -1\r\n\r\n'],
    ['a malformed trailer', `${line}Transfer-Encoding: chunked\r\n\r\n0\r\nA b\r\n\r\n`],
    ['a length behind its chunks', `${line}Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 9\r\n\r\n`],
    ['a protocol that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n'],
    ['interim replies without an end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(200)],
    ['a head without an end', `${line}${'A: b\r\n'.repeat(5000)}`],
  ])('with %s is refused', (_title, reply) => {
    for (const pieces of reply.length < 200 ? cuts(reply) : [[reply]]) {
      expect(() => read(pieces, true), JSON.stringify(pieces)).toThrow(MalformedReply)
    }
  })
  it.each([
    ['a banner of SSH', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a greeting of SMTP', '220 mail.example.com ESMTP\r\n'],
    ['an alert of TLS', '\x15\x03\x01\0\x02\x02\x28'],
    ['the settings of HTTP/2', '\0\0\x12\x04\0\0\0\0\0'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n'],
    ['a status line of HTTP/2', 'HTTP/2'],
    ['a status line of HTTP/1.2', 'HTTP/1.2'],
    ['a status line in lower case', 'http/1.1 200 OK\r\n'],
    ['a protocol that begins alike', 'HTTPS'],
    ['an empty line', '\r\n'],
    ['a NUL', '\0'],
    ['a status of letters', 'HTTP/1.1 OK'],
    ['a status of four digits', 'HTTP/1.1 2000'],
    ['a status below 100', 'HTTP/1.1 0'],
  ])('that begins with %s is refused at the first byte that differs', (_title, start) => {
    for (const before of ['', 'HTTP/1.1 100 Continue\r\n\r\n'])
      for (const pieces of cuts(before + start))
        expect(() => read(pieces), JSON.stringify(pieces)).toThrow('The reply does not begin with a status line')
  })

  it('is awaited while its status line may still become valid', () => {
    const start = 'HTTP/1.0 404'
    for (let length = 1; length <= start.length; length++)
      for (const pieces of cuts(`${start.slice(0, length)} `.trimEnd()))
        expect(read(pieces)).toMatchObject({ status: 0, isDone: false })
  })
})
