import { membersOf, spliceMembers } from '../lib/splice-json.ts'
import type { WireFormat } from '../protocols/wire-format.ts'
import { gathered, toldAsStream } from './other-form.ts'
import type { Passage } from './passage.ts'
import { StreamTap } from './tap.ts'
import { parseObject, readWhole } from './whole-reply.ts'

/** An answer of the caller's own format: every byte goes on as it came, but for the model's name and a usage that nobody asked for. */
export function passThrough(format: WireFormat, edit: { hideUsage: boolean; renameTo: string | undefined }): Passage {
  const { stream } = format
  const { hideUsage, renameTo } = edit
  if (!stream) return { ...wholeOnly(format, renameTo), openTap: notStreamed, readReplay: notStreamed, heartbeat: '' }

  return {
    ...wholeOnly(format, renameTo),
    openTap: () => new StreamTap(stream, edit),
    readReplay(body) {
      const { usage, text } = readWhole(format, body, '')
      const reply = parseObject(body)
      const named = renameTo === undefined ? reply : { ...reply, [modelIn(format)]: renameTo }
      return { usage, text, write: () => toldAsStream(stream, named, { hideUsage }) }
    },
    heartbeat: stream.heartbeat,
  }
}

function wholeOnly(format: WireFormat, renameTo: string | undefined): Pick<Passage, 'readWhole'> {
  return {
    readWhole(body, contentType) {
      const whole = readWhole(format, gathered(format, body), contentType)
      return { ...whole, write: () => (renameTo === undefined ? whole.body : renamed(whole.body, modelIn(format), renameTo)) }
    },
  }
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
