import { secondsOfMp3 } from './audio-mp3.ts'
import { secondsOfWebm } from './audio-webm.ts'

/**
 * The duration of a recording in seconds, by the headers of its file: WAV, FLAC, MP3, AAC, Ogg, MP4 and WebM. An unreadable file
 * counts as speech at 32 kbit/s, a low rate, so that long recordings are not billed as short ones. Nothing is decoded; the work is
 * bounded by the length of the file.
 */
export function secondsOfAudio(bytes: Buffer): number {
  const seconds = secondsByHeader(bytes)
  return seconds !== undefined && Number.isFinite(seconds) && seconds > 0 ? seconds : bytes.length / unknownBytesPerSecond
}

const unknownBytesPerSecond = 4000

function secondsByHeader(bytes: Buffer): number | undefined {
  const head = bytes.toString('latin1', 0, 12)
  if (head.startsWith('RIFF') && head.endsWith('WAVE')) return secondsOfWav(bytes)
  if (head.startsWith('fLaC')) return secondsOfFlac(bytes)
  if (head.startsWith('OggS')) return secondsOfOgg(bytes)
  if (head.slice(4, 8) === 'ftyp') return secondsOfMp4(bytes)
  if (head.startsWith('\x1a\x45\xdf\xa3')) return secondsOfWebm(bytes)
  return secondsOfMp3(bytes)
}

function secondsOfWav(bytes: Buffer): number | undefined {
  let bytesPerSecond = 0
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4)
    const size = bytes.readUInt32LE(at + 4)
    if (name === 'fmt ' && at + 24 <= bytes.length) bytesPerSecond = rateOfWav(bytes, at + 8)
    // A WAV file that was written as a stream declares no size, or one that is too large.
    if (name === 'data') return bytesPerSecond === 0 ? undefined : Math.min(size, bytes.length - at - 8) / bytesPerSecond
    at += 8 + size + (size % 2)
  }
  return undefined
}

const plainSamples: ReadonlySet<number> = new Set([1, 3, 0xfffe])

/** For PCM the rate follows from the fields that players use; the other fields may be wrong. */
function rateOfWav(bytes: Buffer, at: number): number {
  const bytesPerSecond = bytes.readUInt32LE(at + 8)
  if (!plainSamples.has(bytes.readUInt16LE(at))) return bytesPerSecond
  return (bytes.readUInt16LE(at + 2) * bytes.readUInt32LE(at + 4) * bytes.readUInt16LE(at + 14)) / 8
}

/** STREAMINFO is first: 20 bits of sample rate at byte 10, 36 bits of samples at bit 108. */
function secondsOfFlac(bytes: Buffer): number | undefined {
  if (bytes.length < 26) return undefined
  const rate = (bytes.readUInt32BE(18) >>> 12) & 0xfffff
  const samples = (bytes.readUInt8(21) & 0x0f) * 2 ** 32 + bytes.readUInt32BE(22)
  return rate === 0 || samples === 0 ? undefined : samples / rate
}

/** The last page has the number of samples. Opus always counts 48,000 a second. */
function secondsOfOgg(bytes: Buffer): number | undefined {
  const last = bytes.lastIndexOf('OggS')
  if (last < 0 || last + 14 > bytes.length) return undefined
  const samples = Number(bytes.readBigInt64LE(last + 6))
  const vorbis = bytes.subarray(0, 200).indexOf('\x01vorbis', 'latin1')
  const rate = vorbis >= 0 && vorbis + 16 <= bytes.length ? bytes.readUInt32LE(vorbis + 12) : 48_000
  return rate === 0 ? undefined : samples / rate
}

function secondsOfMp4(bytes: Buffer): number | undefined {
  const at = bytes.indexOf('mvhd', 0, 'latin1')
  if (at < 0 || at + 36 > bytes.length) return undefined
  const isLong = bytes.readUInt8(at + 4) === 1
  const scale = bytes.readUInt32BE(at + (isLong ? 24 : 16))
  const duration = isLong ? Number(bytes.readBigUInt64BE(at + 28)) : bytes.readUInt32BE(at + 20)
  return scale === 0 ? undefined : duration / scale
}
