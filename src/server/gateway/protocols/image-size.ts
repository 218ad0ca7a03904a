/**
 * Width and height of an image by its first bytes: PNG, JPEG, GIF and WebP. No pixel is decoded, and of the base64 text only the
 * header is read. Undefined for other files. Pure. Source: protocols notes 5.4.
 */
export interface ImageSize {
  readonly width: number
  readonly height: number
}

export function imageSizeOf(base64: string): ImageSize | undefined {
  const start = bytesOf(base64, startBytes)
  const size = readPng(start) ?? readGif(start) ?? readWebp(start) ?? readJpeg(base64, start)
  return size && size.width > 0 && size.height > 0 ? size : undefined
}

const startBytes = 48
/** Camera images have previews and colour tables before their size. */
const jpegBytes = 256 * 1024

function bytesOf(base64: string, count: number): Buffer {
  return Buffer.from(base64.slice(0, Math.ceil(count / 3) * 4), 'base64')
}

function readPng(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 24 || bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') return undefined
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

function readGif(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 10 || bytes.toString('latin1', 0, 4) !== 'GIF8') return undefined
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
}

/** Lossy, lossless and extended WebP files store the size at different offsets. */
function readWebp(bytes: Buffer): ImageSize | undefined {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP')
    return undefined
  const kind = bytes.toString('latin1', 12, 16)
  if (kind === 'VP8 ') return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  if (kind === 'VP8X') return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
  if (kind !== 'VP8L') return undefined
  const bits = bytes.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

/** The size is in the first frame header, after any number of other segments. */
function readJpeg(base64: string, start: Buffer): ImageSize | undefined {
  if (start[0] !== 0xff || start[1] !== 0xd8) return undefined
  const bytes = bytesOf(base64, jpegBytes)
  for (let at = 2; at + 9 <= bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined
    const marker = bytes[at + 1] ?? 0
    if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    // Markers may be preceded by any number of fill bytes, and some have no segment.
    if (marker === 0xff) at += 1
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2))
  }
  return undefined
}

function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}
