/**
 * How long a recording is, by the headers of its file: WAV, FLAC, MP3, Ogg and MP4. What cannot be read is taken as speech at 32 kbit/s,
 * a low rate, so that nobody gets long recordings for the price of short ones. Nothing is decoded; the work is bounded by the headers,
 * and for MP3 by the frames of the file.
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
  return secondsOfMp3(bytes)
}

function secondsOfWav(bytes: Buffer): number | undefined {
  let bytesPerSecond = 0
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4)
    const size = bytes.readUInt32LE(at + 4)
    if (name === 'fmt ' && at + 20 <= bytes.length) bytesPerSecond = bytes.readUInt32LE(at + 16)
    // A recording that was written as it came names no size, or one that is too large.
    if (name === 'data') return bytesPerSecond === 0 ? undefined : Math.min(size, bytes.length - at - 8) / bytesPerSecond
    at += 8 + size + (size % 2)
  }
  return undefined
}

/** STREAMINFO comes first: 20 bits of sample rate at byte 10, 36 bits of samples at bit 108. */
function secondsOfFlac(bytes: Buffer): number | undefined {
  if (bytes.length < 26) return undefined
  const rate = (bytes.readUInt32BE(18) >>> 12) & 0xfffff
  const samples = (bytes.readUInt8(21) & 0x0f) * 2 ** 32 + bytes.readUInt32BE(22)
  return rate === 0 || samples === 0 ? undefined : samples / rate
}

/** The last page tells how many samples there are. Opus always counts 48,000 a second. */
function secondsOfOgg(bytes: Buffer): number | undefined {
  const last = bytes.lastIndexOf('OggS')
  if (last < 0 || last + 14 > bytes.length) return undefined
  const samples = Number(bytes.readBigInt64LE(last + 6))
  const vorbis = bytes.subarray(0, 200).indexOf('\x01vorbis', 'latin1')
  const rate = vorbis >= 0 && vorbis + 16 <= bytes.length ? bytes.readUInt32LE(vorbis + 12) : 48_000
  return rate === 0 ? undefined : samples / rate
}

function secondsOfMp4(bytes: Buffer): number | undefined {
  const at = bytes.indexOf('mvhd', 'latin1')
  if (at < 0 || at + 36 > bytes.length) return undefined
  const isLong = bytes.readUInt8(at + 4) === 1
  const scale = bytes.readUInt32BE(at + (isLong ? 24 : 16))
  const duration = isLong ? Number(bytes.readBigUInt64BE(at + 28)) : bytes.readUInt32BE(at + 20)
  return scale === 0 ? undefined : duration / scale
}

const bitrates1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const bitrates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const rates = [44_100, 48_000, 32_000]

/** Layer III of MPEG 1, 2 and 2.5, frame by frame, behind the tags at the beginning. */
function secondsOfMp3(bytes: Buffer): number | undefined {
  let seconds = 0
  for (let at = behindTags(bytes); at + 4 <= bytes.length; ) {
    const frame = readFrame(bytes.readUInt32BE(at))
    if (!frame) break
    seconds += frame.seconds
    at += frame.bytes
  }
  return seconds === 0 ? undefined : seconds
}

function readFrame(header: number): { bytes: number; seconds: number } | undefined {
  const version = (header >>> 19) & 3
  const layer = (header >>> 17) & 3
  const isSync = header >>> 21 === 0x7ff
  if (!isSync || version === 1 || layer !== 1) return undefined
  const kilobits = (version === 3 ? bitrates1 : bitrates2)[(header >>> 12) & 15]
  const base = rates[(header >>> 10) & 3]
  if (!kilobits || !base) return undefined
  const rate = version === 3 ? base : version === 2 ? base / 2 : base / 4
  const samples = version === 3 ? 1152 : 576
  return { bytes: Math.floor((samples / 8) * ((kilobits * 1000) / rate)) + ((header >>> 9) & 1), seconds: samples / rate }
}

function behindTags(bytes: Buffer): number {
  if (bytes.toString('latin1', 0, 3) !== 'ID3' || bytes.length < 10) return 0
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (bytes[at] ?? 0), 0)
  return 10 + size
}
