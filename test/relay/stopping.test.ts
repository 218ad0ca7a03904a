import { expect, it } from 'vitest'
import { startServer } from '../helpers/app.ts'
import { speak } from './stage.ts'

it('a caller whose WebSocket was refused, and who goes on writing, is cut off and keeps no server from stopping', async () => {
  const server = await startServer('sqlite')
  const caller = speak(
    server,
    'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n' +
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  )
  expect(await caller.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 401/)
  caller.socket.write(Buffer.alloc(100_000, 0x81))
  await server.stop()
  expect(await caller.until(() => false)).toMatch(/^HTTP\/1\.1 401/)
}, 20_000)
