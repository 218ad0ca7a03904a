import { sendDeliveries } from '../../src/server/people/notify/send-deliveries.ts'
import { jobNamed } from '../../src/server/watch/jobs/table.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import { testCertificate } from '../helpers/certificate.ts'
import { newClock, type TestClock } from '../helpers/clock.ts'
import type { DatabaseKind } from '../helpers/databases.ts'
import { loopbackIsPublic, type Receiver, startReceiver } from '../helpers/receiver.ts'
import { setOptions } from '../helpers/seed.ts'
import { type SmtpServer, startSmtpServer } from '../helpers/smtp-server.ts'

/** A server whose destinations are peers on loopback, and whose clock the test moves. */
export interface AlertStage {
  readonly server: TestServer
  readonly clock: TestClock
  readonly receiver: Receiver
  readonly smtp: SmtpServer
  /** Sends due deliveries, as the job does. */
  send(on?: TestServer): Promise<{ sent: number; failed: number }>
  /** Evaluates the rules, as the job does. */
  evaluate(on?: TestServer): Promise<string>
  /** Creates a destination and returns its id. */
  add(kind: string, settings: Record<string, string>, more?: object): Promise<number>
  /** Another process over the same database, with the same clock. */
  otherServer(): Promise<TestServer>
  /** Moves the clock; the session of root stays valid. */
  pass(seconds: number): Promise<void>
  stop(): Promise<void>
}

export async function startAlertStage(kind: DatabaseKind): Promise<AlertStage> {
  const clock = newClock()
  const [receiver, smtp] = await Promise.all([startReceiver(), startSmtpServer()])
  const settings = {
    now: () => clock.now(),
    upstream: { untrusted: loopbackIsPublic(), certificates: testCertificate, resolve: loopbackIsPublic().resolve },
    mailCertificates: testCertificate,
  }
  const server = await startServer(kind, settings)
  const others: TestServer[] = []
  const mail = { SMTPServer: '127.0.0.1', SMTPPort: String(smtp.port), SMTPAccount: 'robot@site.test' }
  await setOptions(server, { ...mail, ServerAddress: 'https://site.test' })
  return {
    server,
    clock,
    receiver,
    smtp,
    send: (on = server) => sendDeliveries(on.app, new AbortController().signal),
    evaluate: (on = server) => jobNamed('evaluate-alerts').run(on.app, new AbortController().signal, () => {}),
    async add(destinationKind, given, more = {}) {
      const input = { kind: destinationKind, name: `to ${destinationKind}`, settings: given, ...more }
      return (await server.call<{ id: number }>('POST /api/alert/destination/', input)).id
    },
    async otherServer() {
      const other = await startServer(kind, { ...settings, database: server.database })
      others.push(other)
      return other
    },
    async pass(seconds) {
      clock.passSeconds(seconds)
      const at = Math.floor(clock.nowMs / 1000)
      await server.app.db.updateTable('sessions').set({ created_at: at, seen_at: at }).execute()
    },
    async stop() {
      for (const other of others) await other.stop()
      await server.stop()
      await receiver.stop()
      await smtp.stop()
    },
  }
}
