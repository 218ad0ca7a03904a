/**
 * Seconds of Layer III of MPEG 1, 2 and 2.5, and of AAC in its own frames: frame by frame, after the tags at the beginning, skipping
 * bytes between frames. Undefined for a file without two consecutive frames at its beginning.
 */
export function secondsOfMp3(bytes: Buffer): number | undefined {
  let at = firstFrame(bytes, behindTags(bytes))
  if (at < 0) return undefined
  let seconds = 0
  let misses = 0
  while (at >= 0 && at + headerBytes <= bytes.length) {
    const frame = frameAt(bytes, at)
    if (frame) seconds += frame.seconds
    else if (++misses > missesMax) return undefined
    // Players skip invalid bytes to the next frame, so the count does too.
    at = frame ? at + frame.bytes : bytes.indexOf(0xff, at + 1)
  }
  return seconds
}

/** An image between frames causes a few hundred misses; a file with more than this is no audio file. */
const missesMax = 100_000

interface Frame {
  readonly bytes: number
  readonly seconds: number
}

const headerBytes = 4
const bitrates1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
const bitrates2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
const rates = [44_100, 48_000, 32_000]
const aacRates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350]

const paddingBytesMax = 64 * 1024

function firstFrame(bytes: Buffer, from: number): number {
  for (let at = from; at >= 0 && at <= from + paddingBytesMax; at = bytes.indexOf(0xff, at + 1)) {
    const frame = frameAt(bytes, at)
    const next = frame ? at + frame.bytes : 0
    if (frame && (next >= bytes.length || frameAt(bytes, next))) return at
  }
  return -1
}

function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (at + headerBytes > bytes.length) return undefined
  const header = bytes.readUInt32BE(at)
  const layer = (header >>> 17) & 3
  if (header >>> 20 === 0xfff && layer === 0) return aacFrame(bytes, at)
  return header >>> 21 === 0x7ff && layer === 1 ? mp3Frame(header) : undefined
}

function mp3Frame(header: number): Frame | undefined {
  const version = (header >>> 19) & 3
  const kilobits = (version === 3 ? bitrates1 : bitrates2)[(header >>> 12) & 15]
  const base = rates[(header >>> 10) & 3]
  if (version === 1 || !kilobits || !base) return undefined
  const rate = version === 3 ? base : version === 2 ? base / 2 : base / 4
  const samples = version === 3 ? 1152 : 576
  return { bytes: Math.floor((samples / 8) * ((kilobits * 1000) / rate)) + ((header >>> 9) & 1), seconds: samples / rate }
}

/** 13 bits of length from bit 30 on; each block has 1,024 samples. */
function aacFrame(bytes: Buffer, at: number): Frame | undefined {
  if (at + 7 > bytes.length) return undefined
  const rate = aacRates[(bytes.readUInt8(at + 2) >>> 2) & 15]
  const length = (bytes.readUInt32BE(at + 3) >>> 13) & 0x1fff
  const blocks = (bytes.readUInt8(at + 6) & 3) + 1
  return rate === undefined || length < 7 ? undefined : { bytes: length, seconds: (1024 * blocks) / rate }
}

function behindTags(bytes: Buffer): number {
  if (bytes.toString('latin1', 0, 3) !== 'ID3' || bytes.length < 10) return 0
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((bytes[at] ?? 0) & 0x7f), 0)
  return 10 + size
}
