import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../../test/helpers/cpu-time.ts'
import { secondsOfAudio } from './audio-seconds.ts'
import { wavOf } from './wav.ts'

const rest = (length: number) => Buffer.alloc(length)
const text = (value: string) => Buffer.from(value, 'latin1')
const number = (bytes: number, value: number) => {
  const buffer = Buffer.alloc(bytes)
  buffer.writeUIntBE(value, 0, bytes)
  return buffer
}

/** A frame of Layer III: MPEG 1 at 128 kbit/s and 44,100 samples a second, unless the header says otherwise. */
const mp3 = (count: number, header = 0xfffb9000, size = 417) =>
  Buffer.concat(Array.from({ length: count }, () => Buffer.concat([number(4, header), rest(size - 4)])))

/** A frame of AAC: 1,024 samples. `rate` is an index of its table; 4 is 44,100. */
function aac(count: number, rate = 4, size = 200): Buffer {
  const head = Buffer.from([
    0xff,
    0xf1,
    0x40 | (rate << 2),
    0x80 | (size >> 11),
    (size >> 3) & 0xff,
    ((size & 7) << 5) | 0x1f,
    0xfc,
  ])
  return Buffer.concat(Array.from({ length: count }, () => Buffer.concat([head, rest(size - 7)])))
}

function id3(size: number): Buffer {
  const bytes = [21, 14, 7, 0].map((shift) => (size >> shift) & 0x7f)
  return Buffer.concat([text('ID3\x04\x00\x00'), Buffer.from(bytes), rest(size)])
}

function flac(rate: number, samples: number): Buffer {
  const info = rest(34)
  info.writeUInt32BE(rate * 2 ** 12 + (1 << 9) + (15 << 4) + Math.floor(samples / 2 ** 32), 10)
  info.writeUInt32BE(samples % 2 ** 32, 14)
  return Buffer.concat([text('fLaC\x00\x00\x00\x22'), info, rest(500)])
}

function oggPage(samples: bigint, data: Buffer): Buffer {
  const head = rest(27)
  head.write('OggS', 0, 'latin1')
  head.writeBigInt64LE(samples, 6)
  return Buffer.concat([head, data])
}

function mp4(scale: number, duration: number, isLong = false): Buffer {
  const header = isLong
    ? Buffer.concat([number(4, 0x01000000), rest(16), number(4, scale), rest(4), number(4, duration)])
    : Buffer.concat([rest(12), number(4, scale), number(4, duration)])
  const mvhd = Buffer.concat([number(4, 108), text('mvhd'), header, rest(80)])
  return Buffer.concat([number(4, 24), text('ftypM4A '), rest(12), number(4, 8 + mvhd.length), text('moov'), mvhd, rest(300)])
}

const element = (id: number[], data: Buffer) => Buffer.concat([Buffer.from(id), number(4, 0x10000000 + data.length), data])
const segment = Buffer.from([0x18, 0x53, 0x80, 0x67, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])
const webm = (...elements: Buffer[]) => Buffer.concat([element([0x1a, 0x45, 0xdf, 0xa3], rest(10)), segment, ...elements])
const info = (...elements: Buffer[]) => element([0x15, 0x49, 0xa9, 0x66], Buffer.concat(elements))
const scaleOf = (nanoseconds: number) => element([0x2a, 0xd7, 0xb1], number(3, nanoseconds))
function cluster(begin: number, blocks: number[], group = false): Buffer {
  const made = blocks.map((at) => {
    const data = Buffer.concat([Buffer.from([0x81]), number(2, at), Buffer.from([0x80]), rest(50)])
    return group ? element([0xa0], element([0xa1], data)) : element([0xa3], data)
  })
  const body = Buffer.concat([element([0xe7], number(3, begin)), ...made])
  return Buffer.concat([Buffer.from([0x1f, 0x43, 0xb6, 0x75, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), body])
}
function double(value: number): Buffer {
  const buffer = Buffer.alloc(8)
  buffer.writeDoubleBE(value)
  return buffer
}

describe('the duration of an audio file', () => {
  it('WAV: by its samples', () => {
    expect(secondsOfAudio(wavOf(rest(48_000 * 3), 24_000))).toBe(3)
    const listed = wavOf(rest(16_000), 8_000)
    const withList = Buffer.concat([listed.subarray(0, 12), text('LIST\x05\x00\x00\x00abcde\x00'), listed.subarray(12)])
    expect(secondsOfAudio(withList)).toBe(1)
  })

  it('WAV: independent of the declared size and byte rate', () => {
    const endless = wavOf(rest(16_000), 8_000)
    endless.writeUInt32LE(0xffffffff, 40)
    expect(secondsOfAudio(endless)).toBe(1)
    const fast = wavOf(rest(16_000), 8_000)
    fast.writeUInt32LE(0xffffffff, 28)
    expect(secondsOfAudio(fast)).toBe(1)
  })

  it('FLAC: by its header', () => {
    expect(secondsOfAudio(flac(44_100, 44_100 * 90))).toBe(90)
    expect(secondsOfAudio(flac(48_000, 48_000 * 100_000))).toBe(100_000)
  })

  it('MP3: frame by frame, after tags and skipping bytes between frames', () => {
    const second = 1152 / 44_100
    expect(secondsOfAudio(mp3(100))).toBeCloseTo(100 * second, 6)
    expect(secondsOfAudio(Buffer.concat([id3(300), mp3(100)]))).toBeCloseTo(100 * second, 6)
    expect(secondsOfAudio(Buffer.concat([id3(300), rest(1000), mp3(100), text(`TAG${'x'.repeat(125)}`)]))).toBeCloseTo(
      100 * second,
      6,
    )
    expect(secondsOfAudio(Buffer.concat([mp3(2), rest(777), mp3(98)]))).toBeCloseTo(100 * second, 6)
    // MPEG 2 at 64 kbit/s and 22,050 samples a second.
    expect(secondsOfAudio(mp3(50, 0xfff38000, 208))).toBeCloseTo((50 * 576) / 22_050, 6)
    // MPEG 2.5 at 8 kbit/s and 8,000 samples a second.
    expect(secondsOfAudio(mp3(50, 0xffe31800, 72))).toBeCloseTo((50 * 576) / 8_000, 6)
  })

  it('AAC in its own frames', () => {
    expect(secondsOfAudio(aac(430))).toBeCloseTo((430 * 1024) / 44_100, 6)
    expect(secondsOfAudio(aac(100, 8))).toBeCloseTo((100 * 1024) / 16_000, 6)
  })

  it('Ogg: by its last page, Opus at 48,000 and Vorbis at its own rate', () => {
    const opus = [oggPage(0n, text('OpusHead')), oggPage(48_000n, rest(100)), oggPage(48_000n * 7n, rest(100))]
    expect(secondsOfAudio(Buffer.concat(opus))).toBe(7)
    const vorbisHead = Buffer.concat([text('\x01vorbis'), rest(5), Buffer.from([0x44, 0xac, 0, 0])])
    expect(secondsOfAudio(Buffer.concat([oggPage(0n, vorbisHead), oggPage(44_100n * 5n, rest(100))]))).toBe(5)
  })

  it('MP4: by its header, in both versions', () => {
    expect(secondsOfAudio(mp4(1000, 61_500))).toBe(61.5)
    expect(secondsOfAudio(mp4(44_100, 44_100 * 12, true))).toBe(12)
  })

  it('WebM: by its header, else by its last block', () => {
    expect(secondsOfAudio(webm(info(scaleOf(1_000_000), element([0x44, 0x89], double(2500)))))).toBe(2.5)
    expect(secondsOfAudio(webm(info(scaleOf(1_000_000)), cluster(0, [0, 60, 120]), cluster(5000, [0, 60, 340])))).toBe(5.34)
    expect(secondsOfAudio(webm(info(scaleOf(2_000_000)), cluster(1000, [0, 500], true)))).toBe(3)
  })

  it('other files count as speech at 32 kbit/s', () => {
    const odd = [
      text('#!AMR\n'),
      rest(0),
      rest(7),
      text('RIFF\x00\x00\x00\x00WAVE'),
      text('fLaC'),
      text('OggS'),
      text('....ftypmvhd'),
      text('\x1a\x45\xdf\xa3'),
      Buffer.from([0xff, 0xfb, 0x90, 0x00]),
      Buffer.concat([oggPage(-1n, rest(10))]),
      mp4(0, 5),
      mp4(1000, 0),
      flac(0, 5),
      webm(),
      webm(info(scaleOf(0)), cluster(0, [])),
    ]
    for (const bytes of odd.slice(0, 8).concat(odd.slice(9))) expect(secondsOfAudio(bytes)).toBe(bytes.length / 4000)
    expect(secondsOfAudio(odd[8] ?? rest(0))).toBeLessThan(1)
  })
})

describe('arbitrary bytes', () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return Math.floor((seed / 2147483648) * below)
  }
  const heads = [
    Buffer.alloc(0),
    wavOf(rest(400), 8000),
    flac(44_100, 5000),
    mp3(5),
    Buffer.concat([id3(40), mp3(3)]),
    aac(5),
    Buffer.concat([oggPage(5n, text('OpusHead')), oggPage(9n, rest(50))]),
    mp4(1000, 5000),
    mp4(1000, 5000, true),
    webm(info(scaleOf(1_000_000), element([0x44, 0x89], double(2500))), cluster(0, [0, 5])),
    webm(info(scaleOf(1_000_000)), cluster(0, [0, 5]), cluster(9, [7], true)),
  ]

  /** A file of a random format with bytes changed, cut off or added. */
  function hostile(): Buffer {
    const head = heads[random(heads.length)] ?? rest(0)
    const bytes = Buffer.concat([head, Buffer.from(Array.from({ length: random(600) }, () => random(256)))])
    for (let changes = random(12); changes > 0 && bytes.length > 0; changes--)
      bytes[random(Math.min(bytes.length, 200))] = [0, 0xff, 0x7f, 0x80, random(256)][random(5)] ?? 0
    return bytes.subarray(0, random(8) === 0 ? random(bytes.length + 1) : bytes.length)
  }

  it('have a finite, non-negative duration, and never cause an error or an endless loop', () => {
    for (let round = 0; round < 20_000; round++) {
      const bytes = hostile()
      const seconds = secondsOfAudio(bytes)
      if (!(Number.isFinite(seconds) && seconds >= 0)) throw new Error(`${seconds} seconds: ${bytes.toString('hex')}`)
    }
  })

  it('are read in a time that depends only on their length', () => {
    const sizeBytes = 8 * 1024 * 1024
    const files = [
      Buffer.concat([mp3(2), Buffer.alloc(sizeBytes, 0xff)]),
      Buffer.concat([mp3(2, 0xffe31800, 72), mp3(20_000, 0xffe31800, 72)]),
      Buffer.concat([webm(cluster(0, [])), Buffer.alloc(sizeBytes, 0xa3)]),
      Buffer.concat([webm(cluster(0, [])), Buffer.alloc(sizeBytes, 0x80)]),
      Buffer.concat([wavOf(rest(4), 8000).subarray(0, 36), Buffer.alloc(sizeBytes)]),
      Buffer.alloc(sizeBytes, 'OggS'),
      Buffer.concat([text('\0\0\0\x18ftyp'), Buffer.alloc(sizeBytes, 'mvh')]),
    ]
    for (const bytes of files) expect(cpuMs(() => secondsOfAudio(bytes))).toBeLessThan(3000)
  })
})
