import { type AwsMessage, AwsMessages } from './aws-event-stream.ts'
import { isObject, readJson } from './read-json.ts'
import { toByteText } from './sse.ts'

/**
 * The event stream of Bedrock as byte text of server-sent events. Messages of Converse keep their name and payload; the chunks of
 * InvokeModel hold an event of the model's own protocol, which is written as in that protocol; an exception becomes an `error` event,
 * which is the last. Source: protocols notes 2.7, edge cases 251 and 252.
 */
export class BedrockEvents {
  readonly #messages = new AwsMessages()
  #isOver = false

  push(chunk: Buffer): string {
    if (this.#isOver) return ''
    let text = ''
    for (const message of this.#messages.push(chunk)) if (!this.#isOver) text += this.#tell(message)
    return text
  }

  flush(): string {
    if (!this.#isOver) this.#messages.finish()
    return ''
  }

  #tell({ headers, payload }: AwsMessage): string {
    const kind = kindOf(headers)
    if (kind === 'event') {
      const name = headers.get(':event-type') ?? ''
      const told = name === 'chunk' ? nativeEvent(payload) : eventText(name, payload.toString('latin1'))
      if (told !== undefined) return told
    }
    this.#isOver = true
    if (kind === 'event') return errorText('', 'A chunk of the stream holds no bytes')
    if (kind === 'exception') return errorText(headers.get(':exception-type') ?? '', messageIn(payload))
    return errorText(headers.get(':error-code') ?? '', headers.get(':error-message') ?? '')
  }
}

/** Some gateways omit the message type; then it is derived from the name of the event or exception. */
function kindOf(headers: AwsMessage['headers']): string | undefined {
  const told = headers.get(':message-type')
  if (told !== undefined) return told
  if (headers.has(':exception-type')) return 'exception'
  return headers.has(':event-type') ? 'event' : undefined
}

/** HTTP statuses of the exceptions. */
const statuses: ReadonlyMap<string, number> = new Map([
  ['validationexception', 400],
  ['modeltimeoutexception', 408],
  ['modelstreamerrorexception', 424],
  ['throttlingexception', 429],
  ['internalserverexception', 500],
  ['serviceunavailableexception', 503],
])

/** Readers of Messages look at the outer `type`, readers of Chat at the inner one. Status 0: unknown. */
function errorText(type: string, message: string): string {
  const status = statuses.get(type.toLowerCase()) ?? 0
  return eventText('error', toByteText(JSON.stringify({ type: 'error', error: { type, message, status } })))
}

/** The event in `{"bytes":"<base64 of the event>"}`. The padding member beside it is ignored. */
function nativeEvent(payload: Buffer): string | undefined {
  const { bytes } = parse(payload) ?? {}
  if (typeof bytes !== 'string') return undefined
  const native = Buffer.from(bytes, 'base64')
  const type = parse(native)?.type
  return eventText(typeof type === 'string' ? type : '', native.toString('latin1'))
}

function messageIn(payload: Buffer): string {
  const told = parse(payload)
  const message = told?.message ?? told?.Message
  return typeof message === 'string' ? message : ''
}

/** Line ends inside of JSON are only white space, but would end the field, so each line becomes a field of its own. */
function eventText(name: string, data: string): string {
  const head = /^[\w.-]+$/.test(name) ? `event: ${name}\n` : ''
  return `${head}data: ${data.replace(/\r\n?|\n/g, '\ndata: ')}\n\n`
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  const value = readJson(bytes)
  return isObject(value) ? value : undefined
}
