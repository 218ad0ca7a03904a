import { BudgetExceeded, type Share } from '../../lib/byte-budget.ts'
import { CallFailure } from '../../lib/http-client.ts'
import { imageType } from '../../lib/image-type.ts'
import type { Dialogue, MediaPart, Part, Turn } from '../../protocols/dialogue.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../../protocols/wire-format.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { RelayParts, SharedByAttempts } from '../relay-parts.ts'
import { UpstreamFailure } from './failure.ts'
import { fetchFile, mediaLimits, RequestMedia, threeAtATime } from './fetch-media.ts'

/**
 * Puts the bytes of media in place of their addresses, for upstreams that only take bytes. Throws `untranslatable` for what cannot be had,
 * `server_busy` when there is no room for it.
 */
export async function inlineMedia(
  dialogue: Dialogue,
  kinds: readonly MediaPart['media'][],
  media: () => RequestMedia,
): Promise<Dialogue> {
  const wanted = dialogue.turns.flatMap((turn) => turn.parts.flatMap((part) => urlsIn(part, kinds)))
  if (wanted.length === 0) return dialogue

  const fetched = await media().at(wanted)
  const inlined = <Kind extends Part>(part: Kind): Kind => {
    if (part.kind === 'tool-result') return { ...part, parts: part.parts.map(inlined) }
    if (part.kind !== 'media' || part.source.kind !== 'url' || !kinds.includes(part.media)) return part
    const source = fetched.get(part.source.url)
    return source ? { ...part, source } : part
  }
  return { ...dialogue, turns: dialogue.turns.map((turn: Turn) => ({ ...turn, parts: turn.parts.map(inlined) })) }
}

/** The media of a request, for all of its attempts. */
export function mediaOf(
  { upstream, mediaMemory }: Pick<RelayParts, 'upstream' | 'mediaMemory'>,
  shared: SharedByAttempts,
  call: ClientExchange,
): RequestMedia {
  shared.media ??= new RequestMedia(upstream, mediaMemory.open(), call)
  return shared.media
}

function urlsIn(part: Part, kinds: readonly MediaPart['media'][]): string[] {
  if (part.kind === 'tool-result') return part.parts.flatMap((inner) => urlsIn(inner, kinds))
  return part.kind === 'media' && part.source.kind === 'url' && kinds.includes(part.media) && isWebUrl(part.source.url)
    ? [part.source.url]
    : []
}

/** Addresses of a vendor's own storage (`gs://`) are for its writer to judge. */
function isWebUrl(url: string): boolean {
  return /^https?:/i.test(url)
}

/**
 * Images that an upstream gave by address as the bytes that the caller wants. The addresses are untrusted: only public ones are reached.
 * What cannot be had, or is no picture, is left out, and not charged. Throws an UpstreamFailure when none is left.
 */
export async function inlineImages(app: RelayParts, reply: JsonObject): Promise<JsonObject> {
  const images = arrayAt(reply, 'data').filter(isObject)
  const sizeBytesMax = Math.floor(mediaLimits.shareBytesMax / Math.max(1, images.length))
  const share = app.mediaMemory.open()
  try {
    const fetched: (JsonObject | undefined)[] = []
    await threeAtATime(images, async (image, index) => {
      fetched[index] = await withBytes(app, share, image, sizeBytesMax)
    })
    const data = fetched.filter((image) => image !== undefined)
    if (data.length > 0) return { ...reply, data }
  } finally {
    share.release()
  }
  throw new UpstreamFailure('bad-reply', { facts: { message: 'its images could not be fetched' } })
}

async function withBytes(
  { upstream }: RelayParts,
  share: Share,
  image: JsonObject,
  sizeBytesMax: number,
): Promise<JsonObject | undefined> {
  const { url: _, ...rest } = image
  const url = textAt(image, 'url')
  if (url === '') return image
  try {
    const { status, body } = await fetchFile(upstream, share, { url, sizeBytesMax, timeoutMs: 60_000 })
    return status === 200 && imageType(body) ? { ...rest, b64_json: body.toString('base64') } : undefined
  } catch (error) {
    if (error instanceof CallFailure || error instanceof BudgetExceeded) return undefined
    throw error
  }
}
