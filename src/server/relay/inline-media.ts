import type { Dialogue, MediaPart, Part, Turn } from '../protocols/dialogue.ts'
import { RequestMedia } from './fetch-media.ts'
import type { RelayParts, Work } from './relay-parts.ts'

/**
 * Puts the bytes of media in place of their addresses, for upstreams that only take bytes. Throws `untranslatable` for what cannot be had,
 * `server_busy` when there is no room for it.
 */
export async function inlineMedia(
  app: RelayParts,
  work: Work,
  dialogue: Dialogue,
  kinds: readonly MediaPart['media'][],
): Promise<Dialogue> {
  const wanted = dialogue.turns.flatMap((turn) => turn.parts.flatMap((part) => urlsIn(part, kinds)))
  if (wanted.length === 0) return dialogue

  const fetched = await mediaOf(app, work).at(wanted)
  const inlined = <Kind extends Part>(part: Kind): Kind => {
    if (part.kind === 'tool-result') return { ...part, parts: part.parts.map(inlined) }
    if (part.kind !== 'media' || part.source.kind !== 'url' || !kinds.includes(part.media)) return part
    const source = fetched.get(part.source.url)
    return source ? { ...part, source } : part
  }
  return { ...dialogue, turns: dialogue.turns.map((turn: Turn) => ({ ...turn, parts: turn.parts.map(inlined) })) }
}

/** The media of a request, for all of its attempts. */
export function mediaOf(app: RelayParts, work: Work): RequestMedia {
  work.media ??= new RequestMedia(app.upstream, app.mediaMemory.open(), work.call)
  return work.media
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
