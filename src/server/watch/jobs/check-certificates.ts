import type { TLSSocket } from 'node:tls'
import { literalHost } from '../../base/lib/net/outgoing-url.ts'
import { parseUrl } from '../../base/lib/net/parse-url.ts'
import { type Measured, noteMeasures } from '../alerts/measures.ts'
import type { App } from '../parts.ts'
import type { Job } from './runner.ts'

const connectMs = 10_000
const daySeconds = 86_400

/** Records in how many days the TLS certificates of enabled channels expire. Only a handshake is made. */
export const checkCertificates: Job = {
  name: 'check-certificates',
  label: { zh: '检查渠道证书', en: 'Check certificates of channels' },
  on: 'one-node',
  onDemand: true,
  everyMs: () => 12 * 3_600_000,
  deadlineMs: 10 * 60_000,
  async run(app, signal) {
    const days = new Map<string, Promise<number | undefined>>()
    const measured: Measured[] = []
    for (const { id, name, baseUrl, setting } of app.channels.current.byId.values()) {
      if (signal.aborted) break
      const url = parseUrl(baseUrl.replaceAll('{model}', 'model'))
      if (url?.protocol !== 'https:') continue
      const way = `${url.origin} ${setting.proxy ?? ''}`
      const checked = days.get(way) ?? daysLeft(app, url, setting.proxy ?? '')
      days.set(way, checked)
      const value = await checked
      if (value !== undefined) measured.push({ subject: `channel:${id}`, name: `${name} (#${id})`, value })
    }
    await noteMeasures(app, 'certificate', measured)
    return `${measured.length} channels checked`
  },
}

/** 0 when it has expired; undefined when there was no handshake for another reason. */
function daysLeft({ upstream, now }: App, url: URL, proxy: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const connect = upstream.connector({ proxy, connectTimeoutMs: connectMs })
    connect({ hostname: literalHost(url.hostname), protocol: 'https:', port: url.port }, (...[error, socket]) => {
      if (error) {
        resolve(Object(error).code === 'CERT_HAS_EXPIRED' ? 0 : undefined)
        return
      }
      // Connections to https are TLS.
      const { valid_to: end } = (socket as TLSSocket).getPeerCertificate()
      socket.destroy()
      const at = Date.parse(end)
      resolve(Number.isFinite(at) ? Math.max(0, (at - now()) / 1000 / daySeconds) : undefined)
    })
  })
}
