import { crc32 } from 'node:zlib'

/** One message of an AWS event stream, as Bedrock frames it. */
export function awsMessage(headers: Readonly<Record<string, string>>, payload: string | Buffer): Buffer {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => textHeader(name, value)))
  const body = Buffer.from(payload)
  const message = Buffer.alloc(16 + head.length + body.length)
  message.writeUInt32BE(message.length, 0)
  message.writeUInt32BE(head.length, 4)
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8)
  head.copy(message, 12)
  body.copy(message, 12 + head.length)
  message.writeUInt32BE(crc32(message.subarray(0, message.length - 4)), message.length - 4)
  return message
}

export function awsEvent(type: string, payload: object): Buffer {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  return awsMessage(headers, JSON.stringify(payload))
}

export function awsException(type: string, payload: object): Buffer {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }
  return awsMessage(headers, JSON.stringify(payload))
}

function textHeader(name: string, value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(value))
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)])
}
