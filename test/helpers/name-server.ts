import { createSocket } from 'node:dgram'
import { onTestFinished } from 'vitest'

/** What a name server says of a name: addresses (none: there are none of the kind), no such name, a failure of its own, or nothing. */
export type Said = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence'

export interface NameServer {
  /** `127.0.0.1:port`. */
  readonly address: string
  /** Every question: name and kind. */
  readonly asked: { readonly name: string; readonly family: 4 | 6 }[]
  stop(): void
}

/** As `startNameServer`, until the end of the test. */
export async function nameServerOfTest(answer: Answerer): Promise<NameServer> {
  const server = await startNameServer(answer)
  onTestFinished(() => server.stop())
  return server
}

type Answerer = (name: string, family: 4 | 6) => Said

/** A DNS server over UDP on loopback that says what `answer` says, with a time to live of zero. */
export async function startNameServer(answer: Answerer): Promise<NameServer> {
  const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 })
  const asked: NameServer['asked'] = []
  socket.on('message', (question, from) => {
    const { name, type, end } = readQuestion(question)
    const family = type === 28 ? 6 : 4
    asked.push({ name, family })
    const said = answer(name, family)
    if (said !== 'silence') socket.send(reply(question.subarray(0, end), said, family), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return { address: `127.0.0.1:${socket.address().port}`, asked, stop: () => void socket.close() }
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 }
}

function reply(question: Buffer, said: Exclude<Said, 'silence'>, family: 4 | 6): Buffer {
  const code = said === 'NXDOMAIN' ? 3 : said === 'SERVFAIL' ? 2 : 0
  const addresses = typeof said === 'string' ? [] : said
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(addresses.length, 6)
  // No further sections, whatever the question brought along.
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...addresses.map((address) => record(address, family))])
}

function record(address: string, family: 4 | 6): Buffer {
  const bytes =
    family === 4
      ? Buffer.from(address.split('.').map(Number))
      : Buffer.from(
          address
            .split(':')
            .map((group) => group.padStart(4, '0'))
            .join(''),
          'hex',
        )
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(family === 4 ? 1 : 28, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([head, bytes])
}
