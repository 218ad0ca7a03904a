import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'

/** A request that did not arrive over a connection of its own: a message of a WebSocket, or a call that this server makes itself. */
export class DetachedRequest extends Readable {
  readonly method = 'POST'
  readonly url: string
  readonly headers: IncomingHttpHeaders

  /** `headers` are those of another request, without what describes its body; `body` becomes JSON. */
  constructor(url: string, headers: IncomingHttpHeaders, body: object) {
    super({ read() {} })
    const { 'content-encoding': _encoding, 'content-length': _length, 'transfer-encoding': _transfer, ...others } = headers
    this.url = url
    this.headers = { ...others, 'content-type': 'application/json' }
    this.push(JSON.stringify(body))
    this.push(null)
  }
}
