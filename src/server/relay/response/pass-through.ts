import { AppError } from '../../lib/failure.ts'
import { membersOf, spliceMembers } from '../../lib/splice-json.ts'
import type { WireFormat } from '../../protocols/wire-format.ts'
import { type AdmittedRequest, repliesIn } from '../relay-parts.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import { parseObject } from '../upstream/read-reply.ts'
import type { ResponseAdapter } from './adapter.ts'
import { gathered, toldAsStream } from './reply-shape.ts'
import { StreamInterceptor } from './sse-interceptor.ts'
import { readPart, readWhole, requireNoError } from './whole.ts'

type Asked = Pick<AdmittedRequest, 'body' | 'facts' | 'format'>

/** An answer of the caller's own format: every byte goes on as it came, but for the model's name and a usage that nobody asked for. */
export function passThrough(work: Asked, edit: { hideUsage: boolean; renameTo: string | undefined }): ResponseAdapter {
  const { format, facts } = work
  const { stream } = format
  const { hideUsage, renameTo } = edit
  const whole = repliesIn(work) === 'json' ? wholeOnly(work, renameTo) : asItCame
  if (!stream) return { ...whole, openInterceptor: notStreamed, readReplay: notStreamed, heartbeat: '' }

  return {
    ...whole,
    readPart: (begun) => readPart(format, facts, gathered(format, begun)),
    openInterceptor: () => new StreamInterceptor(stream, edit),
    readReplay(body) {
      const { usage, text } = readWhole(format, facts, body, '')
      const reply = parseObject(body)
      const named = renameTo === undefined ? reply : { ...reply, [modelIn(format)]: renameTo }
      return { usage, text, write: () => toldAsStream(stream, named, { hideUsage }) }
    },
    heartbeat: stream.heartbeat,
  }
}

function wholeOnly(work: Asked, renameTo: string | undefined): Pick<ResponseAdapter, 'readWhole'> {
  const { format, facts } = work
  return {
    readWhole(body, contentType) {
      const whole = readWhole(format, facts, mended(work, gathered(format, body)), contentType)
      return { ...whole, write: () => (renameTo === undefined ? whole.body : renamed(whole.body, modelIn(format), renameTo)) }
    },
  }
}

/** As it was asked for. What the upstream ignored and nobody can make up for is a failure of this channel only. */
function mended({ format, body: { json } }: Asked, reply: Buffer): Buffer {
  try {
    return format.mendReply?.(reply, json) ?? reply
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new UpstreamFailure('untranslatable', { own: error })
  }
}

/** A text that is no JSON: subtitles, say. An error may come in its place under a status of success. */
const asItCame: Pick<ResponseAdapter, 'readWhole'> = {
  readWhole(body, contentType) {
    if (contentType.includes('json')) requireNoError(body)
    return { contentType: contentType || 'text/plain; charset=utf-8', usage: undefined, text: '', write: () => body }
  },
}

function renamed(body: Buffer, member: string, model: string): Buffer {
  const namesModel = membersOf(body)?.some(({ key }) => key === member)
  return namesModel ? spliceMembers(body, { [member]: JSON.stringify(model) }) : body
}

function modelIn({ replyModelIn }: WireFormat): string {
  return replyModelIn ?? 'model'
}

function notStreamed(): never {
  throw new Error('This format has no streaming form')
}
