import { createHmac } from 'node:crypto'
import type { Text } from '../../../contract/text.ts'
import { AppError } from '../../base/lib/failure.ts'
import { CallFailure } from '../../base/lib/net/upstream-http/exchange.ts'
import { newSecret } from '../../base/lib/secrets/ids.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { type PostParts, postJson } from './post.ts'

/** A user's webhook. `secret` is '' when the receiver does not check signatures. */
interface Webhook {
  readonly url: string
  readonly secret: string
}

/** The content of a notice. `values` are its numbers and names, for programs. */
interface Notice {
  readonly type: string
  readonly title: string
  readonly content: string
  readonly values: readonly (string | number)[]
}

type Parts = Pick<Core, 'now'> & PostParts

const timeoutMs = 5000
const waitsMs = [1000, 4000]

/**
 * Posts the notice as JSON, at most three times, until a 2xx. `X-Webhook-Signature` is the hex HMAC-SHA256 of the body by the secret;
 * the body has the time, and the same `X-Webhook-Id` in each try, so that a receiver detects old and repeated ones. The address is a
 * user's: only https on the public internet, or through the operator's worker. Throws `webhook_failed`.
 */
export async function callWebhook(
  parts: Parts,
  { webhook, notice, signal }: { webhook: Webhook; notice: Notice; signal?: AbortSignal },
): Promise<void> {
  const body = JSON.stringify({ ...notice, timestamp: seconds(parts.now()) })
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Sluice-Webhook',
    'x-webhook-id': newSecret(),
    ...(webhook.secret === '' ? {} : { 'x-webhook-signature': sign(webhook.secret, body) }),
  }

  for (const waitMs of [...waitsMs, undefined]) {
    const { failure, isPassing } = await attempt(parts, { url: webhook.url, headers, body })
    if (failure === undefined) return
    if (!isPassing || waitMs === undefined || signal?.aborted) throw new AppError('webhook_failed', { reason: failure })
    await pause(waitMs, signal)
  }
}

interface Sent {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

async function attempt(parts: Parts, sent: Sent): Promise<{ failure?: Text; isPassing?: boolean }> {
  try {
    const { status } = await postJson(parts, { ...sent, timeoutMs })
    if (status >= 200 && status < 300) return {}
    const failure = { zh: `返回了状态 ${status}`, en: `it answered with status ${status}` }
    return { failure, isPassing: status >= 500 || status === 408 || status === 429 }
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error
    return { failure: error.text, isPassing: error.kind === 'unreachable' || error.kind === 'timeout' }
  }
}

export function sign(secret: string, body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** Waits; ends at once when the signal is aborted. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}
