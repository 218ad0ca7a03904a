import { randomBytes } from 'node:crypto'
import type { Usage } from '../../../contract/usage.ts'
import { seconds } from '../../lib/clock.ts'
import { background } from '../../lib/logger.ts'
import { eventsIn, toByteText, withLineFeeds } from '../../lib/sse.ts'
import type { Codec, EventReader, Inbound, ReadContext, WriteContext, WrittenRequest } from '../../protocols/codec.ts'
import type { Dialogue } from '../../protocols/dialogue.ts'
import type { CallerFormat } from '../../protocols/format.ts'
import type { OpenEvent, ReplyEvent } from '../../protocols/reply-events.ts'
import type { AdmittedRequest, AttemptState, RelayParts } from '../relay-parts.ts'
import { parseObject, UpstreamFailure } from '../upstream/failure.ts'
import type { Replay, ResponseAdapter, Whole } from './adapter.ts'
import { Followed, TranslatingInterceptor } from './follow-reply.ts'
import { plainName } from './losses.ts'
import { replyShapeOf } from './pass-through.ts'
import type { SealedState } from './sealed-states.ts'

interface Pair {
  readonly codec: Codec
  readonly inbound: Inbound
  readonly dialogue: Dialogue
  readonly written: WrittenRequest
}

/** An answer of another format: read into neutral events, and written as the caller's format says. */
export function translated(
  app: Pick<RelayParts, 'logger' | 'now' | 'sealedStates'>,
  attempt: AttemptState,
  pair: Pair,
): ResponseAdapter {
  const { request, channel } = attempt
  const { codec, inbound, dialogue, written } = pair
  const lost = new ReplyLosses(attempt)
  const reading: ReadContext = {
    newCallId: () => `call_${randomId()}`,
    quirks: channel.provider.quirks,
    lose: (name) => lost.note(name),
  }
  const writing = writeContextOf(app, request, dialogue)
  const follow = () => new Followed(written, channel.setting.thinking_to_content === true, (event) => lost.noteBlock(event))
  const keep = (state: SealedState) =>
    background(app.logger, 'keep the sealed state of a reply', app.sealedStates.keep(request.caller, state))

  const followAll = (body: Buffer) => {
    const followed = follow()
    const events = followed.take(
      replyShapeOf(body) === 'events' ? readStream(codec.readEvents(reading), body) : codec.readReply(parseObject(body), reading),
    )
    return { followed, events }
  }

  const readAll = (body: Buffer) => {
    const { followed, events } = followAll(body)
    const { error, usage, text, state } = followed
    if (error) throw new UpstreamFailure('status', { status: error.status || 502, facts: error })
    if (!followed.isEnded) throw new UpstreamFailure('cut')
    if (state) keep(state)
    return { usage, text, counted: (billed: Usage) => (usage ? events : withUsage(events, billed)) }
  }

  return {
    readWhole(body): Whole {
      const { usage, text, counted } = readAll(body)
      return {
        usage,
        text,
        contentType: 'application/json',
        write: (billed) => Buffer.from(JSON.stringify(inbound.writeReply(counted(billed), writing))),
      }
    },
    readPart(begun) {
      const { error, usage, text } = followAll(begun).followed
      if (error) throw new UpstreamFailure('status', { status: error.status || 502, facts: error })
      return { usage, text }
    },
    readReplay(body): Replay {
      const { usage, text, counted } = readAll(body)
      const writer = inbound.writeEvents(writing)
      return {
        usage,
        text,
        write: (billed) =>
          toByteText(
            counted(billed)
              .map((event) => writer.push(event))
              .join(''),
          ),
      }
    },
    openInterceptor: () => new TranslatingInterceptor(codec.readEvents(reading), inbound.writeEvents(writing), follow(), keep),
    heartbeat: request.format.stream?.heartbeat ?? '',
  }
}

/** What the writers of the caller's format are told of a reply. Ids inside of it name the request, by which the kept turn is found. */
export function writeContextOf(
  { now }: Pick<RelayParts, 'now'>,
  { call, facts, inputTokens, toStore }: AdmittedRequest,
  dialogue: Dialogue,
): WriteContext {
  let ids = 0
  return {
    id: call.id,
    createdAt: seconds(call.startedMs),
    completedAt: () => seconds(now()),
    model: facts.model,
    dialogue,
    inputTokensEstimate: inputTokens,
    newId: (prefix) => `${prefix}${call.id}_${ids++}`,
    ...(toStore ? { kept: { previousId: toStore.previousId, isBackground: toStore.isBackground } } : {}),
  }
}

function readStream(reader: EventReader, body: Buffer): ReplyEvent[] {
  const events = eventsIn(withLineFeeds(body.toString('latin1'))).flatMap((event) => reader.push(event))
  return [...events, ...reader.finish()]
}

/** For upstreams that report no usage: what is charged is what the caller is told. */
function withUsage(events: readonly ReplyEvent[], usage: Usage): ReplyEvent[] {
  return events.flatMap((event): ReplyEvent[] => (event.type === 'end' ? [{ type: 'usage', usage }, event] : [event]))
}

function randomId(): string {
  return randomBytes(12).toString('hex')
}

/** Gathers, for the log row, what a translated reply holds and the caller does not get as it was. */
class ReplyLosses {
  readonly #names: string[]
  readonly #asText: readonly OpenEvent['block'][]

  constructor({ translation, request: { format } }: AttemptState) {
    this.#names = translation?.replyDropped ?? []
    this.#asText = mediaAsText[format.format] ?? []
  }

  note(name: string): void {
    const plain = plainName(name)
    if (plain !== '' && this.#names.length < namesMax && !this.#names.includes(plain)) this.#names.push(plain)
  }

  /** Names a picture or sound for which the caller's format has no place in a reply. */
  noteBlock({ block }: OpenEvent): void {
    if (this.#asText.includes(block)) this.note(block)
  }
}

const namesMax = 50

const mediaAsText: Readonly<Partial<Record<string, readonly OpenEvent['block'][]>>> = {
  'anthropic.messages': ['image', 'audio'],
  'openai.responses': ['audio'],
} satisfies Partial<Record<CallerFormat, readonly OpenEvent['block'][]>>
