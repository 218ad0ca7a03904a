import { isIP, isIPv6, type Socket } from 'node:net'
import { addressBytes } from './outgoing-url.ts'

const version = 5
const noLogin = 0
const userAndPassword = 2

/**
 * Asks the SOCKS5 proxy at the other end of `socket` for a connection to a host (RFC 1928), with user and password if it requires them
 * (RFC 1929). A name is sent unresolved: the proxy resolves it. Afterwards the socket is connected to the target. The message of an error
 * is what the proxy did.
 */
export async function requestSocks5(
  socket: Socket,
  target: { host: string; port: number },
  login?: { user: string; password: string },
): Promise<void> {
  const methods = login ? [noLogin, userAndPassword] : [noLogin]
  socket.write(Buffer.of(version, methods.length, ...methods))
  const chosen = await take(socket, 2)
  if (chosen.readUInt8(0) !== version) throw new Error('does not speak SOCKS5')
  const method = chosen.readUInt8(1)
  if (method === userAndPassword && login) await signIn(socket, login)
  else if (method !== noLogin) throw new Error('accepts none of the offered logins')

  socket.write(Buffer.concat([Buffer.of(version, 1, 0), hostBytes(target.host), portBytes(target.port)]))
  const reply = await take(socket, 4)
  if (reply.readUInt8(1) !== 0) throw new Error(`could not connect (reply ${reply.readUInt8(1)})`)
  // The address that the proxy uses itself follows, with its port; it is not needed.
  const kind = reply.readUInt8(3)
  await take(socket, (kind === 1 ? 4 : kind === 4 ? 16 : (await take(socket, 1)).readUInt8(0)) + 2)
}

async function signIn(socket: Socket, login: { user: string; password: string }): Promise<void> {
  socket.write(Buffer.concat([Buffer.of(1), short(login.user), short(login.password)]))
  const status = (await take(socket, 2)).readUInt8(1)
  if (status !== 0) throw new Error('refused the login')
}

function hostBytes(host: string): Buffer {
  if (isIP(host) === 0) return Buffer.concat([Buffer.of(3), short(host)])
  return Buffer.concat([Buffer.of(isIPv6(host) ? 4 : 1), addressBytes(host)])
}

function portBytes(port: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(port)
  return bytes
}

/** A text prefixed with its length in one byte. */
function short(text: string): Buffer {
  const bytes = Buffer.from(text)
  if (bytes.length > 255) throw new Error('takes no text that is longer than 255 bytes')
  return Buffer.concat([Buffer.of(bytes.length), bytes])
}

/** Reads exactly the next `length` bytes; the rest stays in the socket. */
function take(socket: Socket, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const closed = () => finish(() => reject(new Error('closed the connection')))
    const read = () => {
      if (socket.readableLength >= length) finish(() => resolve(socket.read(length)))
      else socket.read(0)
    }
    const finish = (end: () => void) => {
      socket.off('readable', read).off('end', closed).off('close', closed)
      end()
    }
    socket.on('readable', read).on('end', closed).on('close', closed)
    if (socket.destroyed) closed()
    else read()
  })
}
