import { createHmac } from 'node:crypto'
import type { DestinationKind } from '../../../contract/entities/destination.ts'
import type { Language } from '../../../contract/text.ts'
import { withoutTrailing } from '../../../contract/trailing.ts'
import { parseUrl } from '../../base/lib/net/parse-url.ts'
import type { Message } from '../../usage/log/record-event.ts'

/** How each kind of destination except mail is called: its request, and whether an answer of status 2xx means success. */
export type Settings = Readonly<Record<string, string>>

interface Sent {
  readonly settings: Settings
  readonly message: Message
  /** The message for people; for an event without texts, its name. */
  readonly text: string
  readonly nowMs: number
}

interface Request {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

interface Caller {
  request(sent: Sent): Request
  /** Whether the JSON of an answer means success; chat programs answer refusals with status 200. */
  accepts?(answer: Readonly<Record<string, unknown>>): boolean
}

export const callers: Readonly<Record<Exclude<DestinationKind, 'mail'>, Caller>> = {
  webhook: {
    request({ settings: { url = '', secret = '' }, message, nowMs }) {
      const { id, type, created_at, data } = message
      const body = JSON.stringify({ id, type, created_at, data })
      const at = Math.floor(nowMs / 1000)
      return {
        url,
        headers: {
          'x-sluice-event': type,
          'x-sluice-message-id': id,
          ...(secret === '' ? {} : { 'x-sluice-signature': `t=${at},v1=${signWebhook(secret, at, body)}` }),
        },
        body,
      }
    },
  },
  slack: { request: ({ settings: { url = '' }, text }) => ({ url, body: JSON.stringify({ text: escapeSlack(text) }) }) },
  telegram: {
    request({ settings: { token = '', chat = '', api = '' }, text }) {
      const base = api === '' ? 'https://api.telegram.org' : withoutTrailing(api, '/')
      return {
        url: `${base}/bot${encodeURIComponent(token).replaceAll('%3A', ':')}/sendMessage`,
        body: JSON.stringify({ chat_id: chat, text, link_preview_options: { is_disabled: true } }),
      }
    },
    accepts: ({ ok }) => ok === true,
  },
  feishu: {
    request({ settings: { url = '', secret = '' }, text, nowMs }) {
      const timestamp = String(Math.floor(nowMs / 1000))
      const sign = createHmac('sha256', `${timestamp}\n${secret}`).digest('base64')
      const signed = secret === '' ? {} : { timestamp, sign }
      return { url, body: JSON.stringify({ ...signed, msg_type: 'text', content: { text } }) }
    },
    accepts: ({ code, StatusCode }) => (code ?? StatusCode) === 0,
  },
  dingtalk: {
    request({ settings: { url = '', secret = '' }, text, nowMs }) {
      const signed = parseUrl(url)
      if (signed && secret !== '') {
        signed.searchParams.set('timestamp', String(nowMs))
        signed.searchParams.set('sign', createHmac('sha256', secret).update(`${nowMs}\n${secret}`).digest('base64'))
      }
      return { url: signed?.href ?? url, body: JSON.stringify({ msgtype: 'text', text: { content: text } }) }
    },
    accepts: ({ errcode }) => errcode === 0,
  },
}

/** Hex HMAC-SHA256 of `TIME.BODY`, where TIME is in unix seconds, as receivers compute it. */
function signWebhook(secret: string, at: number, body: string): string {
  return createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')
}

/** Title, content and link of a message, one to a line. */
export function textOfMessage({ type, title, content, path }: Message, language: Language, address: string): string {
  const lines = [title?.[language] ?? type, content?.[language] ?? '', path && address !== '' ? `${address}${path}` : '']
  return lines.filter((line) => line !== '').join('\n')
}

function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
