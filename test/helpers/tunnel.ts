import { connectProxy } from './connect-proxy.ts'

/**
 * An HTTP proxy that opens every tunnel to one upstream of this machine: a channel can then have a vendor's own address. Returns the
 * `setting` of such a channel, whose address must begin with `http:`.
 */
export async function tunnelTo(upstreamUrl: string): Promise<string> {
  const port = Number(new URL(upstreamUrl).port)
  const { url } = await connectProxy(() => port)
  return JSON.stringify({ proxy: url })
}
