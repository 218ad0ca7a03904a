import { createSocket } from 'node:dgram'
import { onTestFinished } from 'vitest'

/**
 * The answer of a name server: addresses (an empty list: the name has none of the family), no such name, a server failure, or no
 * reply.
 */
export type Said = readonly string[] | Alias | 'NXDOMAIN' | 'SERVFAIL' | 'silence'

/** A CNAME record: the canonical name and its addresses. */
interface Alias {
  readonly alias: string
  readonly addresses: readonly string[]
}

export interface NameServer {
  /** `127.0.0.1:port`. */
  readonly address: string
  /** Every query: name and address family. */
  readonly asked: { readonly name: string; readonly family: 4 | 6 }[]
  stop(): void
}

/** Like `startNameServer`, stopped at the end of the test. */
export async function nameServerOfTest(answer: Answerer): Promise<NameServer> {
  const server = await startNameServer(answer)
  onTestFinished(() => server.stop())
  return server
}

type Answerer = (name: string, family: 4 | 6) => Said

/** A DNS server over UDP on loopback that answers with the result of `answer`, with a time to live of zero. */
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
  const records = recordsOf(said, family)
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8180 | code, 2)
  head.writeUInt16BE(records.length, 6)
  // No further sections, whatever the query contained.
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...records])
}

/** A pointer to the name in the query. */
const asked = Buffer.of(0xc0, 0x0c)
const alias = 5

function recordsOf(said: Exclude<Said, 'silence'>, family: 4 | 6): Buffer[] {
  if (typeof said === 'string') return []
  if (!('alias' in said)) return said.map((address) => addressRecord(asked, address, family))
  const name = nameBytes(said.alias)
  return [record(asked, alias, name), ...said.addresses.map((address) => addressRecord(name, address, family))]
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.of(0)])
}

function addressRecord(owner: Buffer, address: string, family: 4 | 6): Buffer {
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
  return record(owner, family === 4 ? 1 : 28, bytes)
}

function record(owner: Buffer, type: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt16BE(bytes.length, 8)
  return Buffer.concat([owner, head, bytes])
}
