import { type DeliveryAnswer, destinationStatus } from '../../../contract/entities/destination.ts'
import type { Row } from '../../base/db/schema.ts'
import { readJson } from '../../base/lib/bytes/read-json.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { redact } from '../../base/lib/log/logger.ts'
import { CallFailure } from '../../base/lib/net/upstream-http/exchange.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { type Message, newMessage } from '../../usage/log/record-event.ts'
import { queueMessage } from './deliveries.ts'
import { callers, textOfMessage } from './destination-requests.ts'
import { type OpenDestination, openDestination, secretsOf } from './destinations.ts'
import type { Mailer } from './mailer.ts'
import { writeMessageMail } from './mails.ts'
import { type PostParts, postJson } from './post.ts'

/**
 * The one sender of alerts and events. A delivery is a row, claimed by one node at a time; a failed one is tried again after
 * growing pauses, and another node continues the deliveries of a dead one: each message arrives at least once, always under the
 * same id.
 */
type SenderParts = Core & PostParts & { readonly mailer: Mailer }

const attemptMs = 10_000
const leaseSeconds = 90
const claimedMax = 50
const sendingMax = 8
const answerLengthMax = 300
const retryAfterMax = 3600
/** The pauses between tries; when the try after the last pause fails, the delivery has failed. */
const pausesSeconds = [10, 60, 300, 1800, 7200, 21_600, 43_200]
/** A webhook without a successful delivery for so long is disabled. */
const disabledAfterSeconds = 3 * 86_400

interface Outcome extends DeliveryAnswer {
  /** Seconds to wait, as requested by the peer. */
  readonly retryAfter: number
}

/** Sends all due deliveries. Returns how many arrived and how many failed. */
export async function sendDeliveries(parts: SenderParts, signal: AbortSignal): Promise<{ sent: number; failed: number }> {
  const counts = { sent: 0, failed: 0 }
  for (;;) {
    const claimed = signal.aborted ? [] : await claimDue(parts)
    if (claimed.length === 0) return counts
    const waiting = [...claimed]
    const work = async () => {
      for (let row = waiting.shift(); row && !signal.aborted; row = waiting.shift()) {
        const outcome = await send(parts, row, signal)
        if (outcome) counts[outcome.delivered ? 'sent' : 'failed']++
      }
    }
    await Promise.all(Array.from({ length: sendingMax }, work))
  }
}

/** Sends a test message to one of the owner's at once, without retries. Throws `not_found`. */
export async function testDestination(parts: SenderParts, id: number, owner = 0): Promise<DeliveryAnswer> {
  const own = parts.db.selectFrom('destinations').select('id').where('id', '=', id).where('organisation_id', '=', owner)
  if (!(await own.executeTakeFirst())) fail('not_found')
  const title = { zh: '测试消息', en: 'Test message' }
  const content = { zh: '如果您收到此消息，说明通知设置有效。', en: 'If you can read this, the settings work.' }
  return sendOnce(parts, newMessage(parts, { type: 'test', title, content, data: {} }), id)
}

/** Sends a message at once, without retries. Throws `not_found`. */
export async function sendOnce(parts: SenderParts, message: Message, destinationId: number): Promise<DeliveryAnswer> {
  await queueMessage(parts.db, message, [destinationId])
  const row = await claim(parts)
    .where('destination_id', '=', destinationId)
    .where('message_id', '=', message.id)
    .returningAll()
    .executeTakeFirst()
  const outcome = await send(parts, { ...(row ?? fail('not_found')), attempts: pausesSeconds.length + 1 }, undefined)
  const { delivered, status, answer } = outcome ?? fail('not_found')
  return { delivered, status, answer }
}

async function claimDue(parts: SenderParts): Promise<Row<'deliveries'>[]> {
  const now = seconds(parts.now())
  const due = parts.db
    .selectFrom('deliveries')
    .innerJoin('destinations', 'destinations.id', 'deliveries.destination_id')
    .select('deliveries.id')
    .where('destinations.status', '=', destinationStatus.enabled)
    .where('deliveries.state', '=', 'pending')
    .where('deliveries.next_at', '<=', now)
    .where('deliveries.lease_until', '<=', now)
    .orderBy('deliveries.next_at')
    .limit(claimedMax)
  return claim(parts)
    .where('id', 'in', due)
    .where('state', '=', 'pending')
    .where('next_at', '<=', now)
    .where('lease_until', '<=', now)
    .returningAll()
    .execute()
}

function claim({ db, now }: SenderParts) {
  return db
    .updateTable('deliveries')
    .set((row) => ({ lease_until: seconds(now()) + leaseSeconds, attempts: row('attempts', '+', 1) }))
}

/** One attempt of a claimed delivery, and the resulting update of its row and its destination. */
async function send(parts: SenderParts, row: Row<'deliveries'>, signal: AbortSignal | undefined): Promise<Outcome | undefined> {
  const found = await parts.db.selectFrom('destinations').selectAll().where('id', '=', row.destination_id).executeTakeFirst()
  if (!found) return undefined
  const destination = openDestination(parts, found)
  const outcome = await attempt(parts, { destination, message: JSON.parse(row.message), signal })
  // Aborted because this node stops, which is no failure of the destination: another node retries it when the lease ends.
  if (signal?.aborted && !outcome.delivered) return undefined
  await record(parts, row, outcome)
  await recordHealth(parts, destination, outcome)
  return outcome
}

interface Attempt {
  readonly destination: OpenDestination
  readonly message: Message
  readonly signal: AbortSignal | undefined
}

async function attempt(parts: SenderParts, sent: Attempt): Promise<Outcome> {
  try {
    return sent.destination.kind === 'mail' ? await mail(parts, sent) : await callOut(parts, sent)
  } catch (error) {
    const { language } = sent.destination
    if (error instanceof CallFailure) return failed(error.text[language])
    if (error instanceof AppError) return failed(error.text(language))
    throw error
  }
}

const failed = (answer: string): Outcome => ({ delivered: false, status: 0, answer, retryAfter: 0 })

async function mail(
  { mailer, options }: SenderParts,
  { destination: { language, settings }, message }: Attempt,
): Promise<Outcome> {
  const { SystemName: site, ServerAddress } = options.current
  await mailer.send(writeMessageMail(message, { to: settings.to ?? '', language, site, address: ServerAddress }))
  return { delivered: true, status: 250, answer: '', retryAfter: 0 }
}

async function callOut(parts: SenderParts, { destination, message, signal }: Attempt): Promise<Outcome> {
  const { kind, settings, language } = destination
  if (kind === 'mail') return failed('')
  const { request, accepts } = callers[kind]
  const text = textOfMessage(message, language, parts.options.current.ServerAddress)
  const { url, headers, body } = request({ settings, message, text, nowMs: parts.now() })
  const reply = await postJson(parts, {
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'Sluice-Webhook', ...headers },
    body,
    timeoutMs: attemptMs,
    signal,
  })
  const isGood = reply.status >= 200 && reply.status < 300 && (!accepts || accepts(Object(readJson(reply.body))))
  const retryAfter = Number(reply.headers['retry-after'])
  return {
    delivered: isGood,
    status: reply.status,
    answer: shown(reply.body.toString('utf8'), secretsOf(destination)),
    retryAfter: Number.isFinite(retryAfter) ? Math.min(Math.max(0, retryAfter), retryAfterMax) : 0,
  }
}

/** The first part of an answer, without the secrets of the destination. */
function shown(text: string, secrets: readonly string[]): string {
  const safe = secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are to be removed
  return redact(safe.replace(/[\u0000-\u001f\u007f]+/g, ' ').toWellFormed())
    .trim()
    .slice(0, answerLengthMax)
}

async function record({ db, now: nowMs }: SenderParts, { id, attempts }: Row<'deliveries'>, outcome: Outcome): Promise<void> {
  const { delivered, status, answer, retryAfter } = outcome
  const now = seconds(nowMs())
  const pause = pausesSeconds[attempts - 1]
  const isOver = delivered || pause === undefined
  const then = isOver
    ? { state: delivered ? 'sent' : 'failed', finished_at: now }
    : { next_at: now + Math.max(pause, Math.ceil(retryAfter)) }
  await db
    .updateTable('deliveries')
    .set({ ...then, lease_until: 0, status, answer })
    .where('id', '=', id)
    .execute()
}

async function recordHealth(
  { db, now, logger }: SenderParts,
  { id, kind, failingSince }: OpenDestination,
  outcome: Outcome,
): Promise<void> {
  if (outcome.delivered) {
    const isHealthy = failingSince === 0
    if (!isHealthy) await db.updateTable('destinations').set({ failing_since: 0, last_error: '' }).where('id', '=', id).execute()
    return
  }
  const at = seconds(now())
  const last_error = outcome.status > 0 ? `${outcome.status} ${outcome.answer}`.trim() : outcome.answer
  const isTooLong = kind === 'webhook' && failingSince > 0 && at - failingSince >= disabledAfterSeconds
  logger.warn({ destination: id, status: outcome.status }, 'a delivery failed')
  await db
    .updateTable('destinations')
    .set({
      last_error,
      ...(failingSince === 0 ? { failing_since: at } : {}),
      ...(isTooLong ? { status: destinationStatus.autoDisabled, status_time: at } : {}),
    })
    .where('id', '=', id)
    .where('status', '=', destinationStatus.enabled)
    .execute()
}
