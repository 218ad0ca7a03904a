import { AppError } from '../../base/lib/failure.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import { targetOf, type UpstreamCall, type UpstreamCallParts } from '../relay/upstream/call-upstream.ts'
import { UpstreamFailure, withCleanFacts } from '../relay/upstream/failure.ts'
import { HttpExchange, type Receiver } from '../relay/upstream/http-exchange.ts'

/** The longest line: that of a request, or of a reply with pictures. */
const lineBytesMax = 64 * 1024 * 1024
const newline = 0x0a

/**
 * The lines of a vendor's file, read no faster than they are used, so that only one is in memory. Empty lines are left out. Throws an
 * `UpstreamFailure`; a reader that stops early ends the call.
 */
export async function* linesFrom(
  app: UpstreamCallParts,
  channel: RunningChannel,
  call: Omit<UpstreamCall, 'method' | 'body'>,
): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunksOf(app, channel, call)) {
    let from = 0
    for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
      const line = Buffer.concat([...pieces, chunk.subarray(from, at)])
      pieces = []
      bytes = 0
      from = at + 1
      if (!isBlank(line)) yield line
    }
    if (from === chunk.length) continue
    pieces.push(chunk.subarray(from))
    bytes += chunk.length - from
    if (bytes > lineBytesMax) throw new AppError('body_too_large', { limit: lineBytesMax })
  }
  const last = Buffer.concat(pieces)
  if (!isBlank(last)) yield last
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09)
}

async function* chunksOf(
  app: UpstreamCallParts,
  channel: RunningChannel,
  call: Omit<UpstreamCall, 'method' | 'body'>,
): AsyncGenerator<Buffer> {
  const target = await targetOf(app, channel, { ...call, method: 'GET', accept: '*/*' })
  if (target instanceof UpstreamFailure) throw withCleanFacts(target, channel)
  const arriving = new Arriving()
  const exchange = new HttpExchange(app.deadlines, target, arriving)
  arriving.onData = () => exchange.pause()
  exchange.start()
  try {
    for (;;) {
      const chunk = await arriving.next()
      if (!chunk) break
      yield chunk
      if (arriving.isEmpty) exchange.resume()
    }
    if (arriving.failure) throw withCleanFacts(arriving.failure, channel)
  } finally {
    if (!exchange.isOver) exchange.abort()
  }
}

/** What has arrived and was not read yet. */
class Arriving implements Receiver {
  onData = () => {}
  failure: UpstreamFailure | undefined
  readonly #chunks: Buffer[] = []
  #isOver = false
  #wake: (() => void) | undefined

  get isEmpty(): boolean {
    return this.#chunks.length === 0
  }

  /** Undefined at the end. */
  async next(): Promise<Buffer | undefined> {
    while (this.#chunks.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#chunks.shift()
  }

  begin(): void {}

  data(chunk: Buffer): void {
    // The connection uses its buffer again.
    this.#chunks.push(Buffer.from(chunk))
    this.onData()
    this.#wake?.()
  }

  end(): void {
    this.#isOver = true
    this.#wake?.()
  }

  fail(failure: UpstreamFailure): void {
    this.failure = failure
    this.end()
  }
}
