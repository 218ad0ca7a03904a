import { describe, expect, it } from 'vitest'
import { imageSizeOf } from './image-size.ts'

const png = (width: number, height: number) => {
  const bytes = Buffer.alloc(33)
  bytes.write('\x89PNG\r\n\x1a\n', 0, 'latin1')
  bytes.writeUInt32BE(13, 8)
  bytes.write('IHDR', 12)
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes.toString('base64')
}

const segment = (marker: number, data: Buffer) => {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}

const jpeg = (width: number, height: number, before: Buffer[] = []) => {
  const frame = Buffer.from([8, height >> 8, height & 255, width >> 8, width & 255, 3, 1, 2, 3])
  return Buffer.concat([Buffer.from([0xff, 0xd8]), ...before, segment(0xc2, frame)]).toString('base64')
}

const webp = (kind: string, body: number[]) => {
  const bytes = Buffer.concat([
    Buffer.from('RIFF0000WEBP'),
    Buffer.from(kind),
    Buffer.alloc(4),
    Buffer.from(body),
    Buffer.alloc(16),
  ])
  return bytes.toString('base64')
}

describe('the size of an image', () => {
  it('is read from the header of every format', () => {
    const size = { width: 1024, height: 768 }
    expect(imageSizeOf(png(1024, 768))).toEqual(size)
    expect(imageSizeOf(jpeg(1024, 768))).toEqual(size)
    expect(imageSizeOf(Buffer.from('GIF89a\x00\x04\x00\x03', 'latin1').toString('base64'))).toEqual(size)
    expect(imageSizeOf(webp('VP8 ', [0, 0, 0, 0x9d, 0x01, 0x2a, 0, 4, 0, 3]))).toEqual(size)
    expect(imageSizeOf(webp('VP8X', [0, 0, 0, 0, 0xff, 3, 0, 0xff, 2, 0]))).toEqual(size)
    const bits = 1023 | (767 << 14)
    expect(imageSizeOf(webp('VP8L', [0x2f, bits & 255, (bits >> 8) & 255, (bits >> 16) & 255, bits >>> 24]))).toEqual(size)
  })

  it('is found after the previews and tables of a photograph', () => {
    const before = [segment(0xe1, Buffer.alloc(60_000, 0xc0)), Buffer.from([0xff]), segment(0xc4, Buffer.alloc(40))]
    expect(imageSizeOf(jpeg(4000, 3000, before))).toEqual({ width: 4000, height: 3000 })
  })

  it('is undefined for anything else, and no input throws', () => {
    for (const text of ['', '!!', 'AAAA', '/9j/', png(0, 5), Buffer.from('\x89PNG').toString('base64'), webp('VP8?', [])])
      expect(imageSizeOf(text)).toBeUndefined()
    let seed = 7
    for (let round = 0; round < 2000; round++) {
      const bytes = Buffer.from(
        Array.from({ length: seed % 90 }, () => {
          seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
          return seed & 255
        }),
      )
      seed++
      for (const head of ['', '\xff\xd8\xff', 'RIFF0000WEBPVP8 ', 'GIF8', '\x89PNG\r\n\x1a\n'])
        imageSizeOf(Buffer.concat([Buffer.from(head, 'latin1'), bytes]).toString('base64'))
    }
  })
})
