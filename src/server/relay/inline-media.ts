import { fail } from '../lib/failure.ts'
import { CallFailure, fetchUntrusted, type UpstreamAgents } from '../lib/http-client.ts'
import type { Dialogue, MediaPart, Part, Turn } from '../protocols/dialogue.ts'
import { base64Source } from '../protocols/media.ts'

/**
 * Fetches the media that a caller named by URL, for upstreams that only take bytes. The addresses are untrusted: only public ones are
 * reached. Throws `untranslatable` for what cannot be had.
 */
export async function inlineMedia(
  agents: UpstreamAgents,
  dialogue: Dialogue,
  kinds: readonly MediaPart['media'][],
): Promise<Dialogue> {
  const wanted = new Set(dialogue.turns.flatMap((turn) => turn.parts.flatMap((part) => urlsIn(part, kinds))))
  if (wanted.size === 0) return dialogue
  if (wanted.size > urlsMax) refuse({ zh: `最多 ${urlsMax} 个地址`, en: `at most ${urlsMax} addresses` })

  const fetched = new Map(await Promise.all([...wanted].map(async (url) => [url, await fetchMedia(agents, url)] as const)))
  const total = [...fetched.values()].reduce((sum, source) => sum + (source.kind === 'base64' ? source.data.length : 0), 0)
  if (total > totalCharactersMax) refuse({ zh: '文件总量过大', en: 'the files are too large together' })

  const inlined = <Kind extends Part>(part: Kind): Kind => {
    if (part.kind === 'tool-result') return { ...part, parts: part.parts.map(inlined) }
    if (part.kind !== 'media' || part.source.kind !== 'url') return part
    const source = fetched.get(part.source.url)
    return source ? { ...part, source } : part
  }
  return { ...dialogue, turns: dialogue.turns.map((turn: Turn) => ({ ...turn, parts: turn.parts.map(inlined) })) }
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

/** What stands at an address, as base64. Throws `untranslatable`. */
export async function fetchMedia(agents: UpstreamAgents, url: string) {
  try {
    const { status, headers, body } = await fetchUntrusted(agents, { url, allowHttp: true, sizeBytesMax: fileBytesMax })
    if (status !== 200 || body.length === 0)
      return refuse({ zh: `地址答复状态码 ${status}`, en: `the address answered with status ${status}` })
    const declared = String(headers['content-type'] ?? '').split(';')[0] ?? ''
    return base64Source(body.toString('base64'), declared)
  } catch (error) {
    if (error instanceof CallFailure) return refuse(error.text)
    throw error
  }
}

const urlsMax = 20
const fileBytesMax = 20 * 1024 * 1024
/** Of base64. */
const totalCharactersMax = 64 * 1024 * 1024

function refuse(reason: { zh: string; en: string }): never {
  fail('untranslatable', { field: 'url', reason })
}
