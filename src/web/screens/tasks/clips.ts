/** The clips of a finished music task, from its upstream's result. */

export interface Clip {
  readonly title: string
  /** Addresses of the upstream; '' where there is none. */
  readonly audio: string
  readonly video: string
  readonly cover: string
  /** The lyrics of the song, or all of the result if only lyrics were ordered. */
  readonly lyrics: string
}

export function clipsOf(data: unknown): readonly Clip[] {
  const all = Array.isArray(data) ? data : [data]
  return all.map(clipOf).filter(({ audio, video, lyrics }) => audio !== '' || video !== '' || lyrics !== '')
}

function clipOf(value: unknown): Clip {
  const clip = fieldsOf(value)
  return {
    title: textOf(clip.title),
    audio: addressOf(clip.audio_url),
    video: addressOf(clip.video_url),
    cover: addressOf(clip.image_large_url) || addressOf(clip.image_url),
    lyrics: textOf(clip.text) || textOf(clip.lyric) || textOf(fieldsOf(clip.metadata).prompt),
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Only http and https URLs: no scheme that could run scripts here. */
function addressOf(value: unknown): string {
  const text = textOf(value)
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : ''
}
