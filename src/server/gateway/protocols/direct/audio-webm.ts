/**
 * Seconds of a WebM or Matroska file: the duration in its header, or, for browser recordings without one, the start of its last block.
 * Undefined when neither can be read. Source: RFC 9559 for the elements, RFC 8794 for their sizes.
 */
export function secondsOfWebm(bytes: Buffer): number | undefined {
  const segment = bytes.indexOf(ids.segment)
  if (segment < 0) return undefined
  const scale = (numberIn(bytes, ids.scale, segment) ?? 1_000_000) / 1e9
  const duration = floatIn(bytes, ids.duration, segment)
  if (duration !== undefined && duration > 0) return duration * scale
  const cluster = bytes.lastIndexOf(ids.cluster)
  const last = cluster < 0 ? undefined : lastBlockOf(bytes, cluster)
  return last === undefined ? undefined : last * scale
}

const ids = {
  segment: Buffer.from([0x18, 0x53, 0x80, 0x67]),
  scale: Buffer.from([0x2a, 0xd7, 0xb1]),
  duration: Buffer.from([0x44, 0x89]),
  cluster: Buffer.from([0x1f, 0x43, 0xb6, 0x75]),
} as const

/** The header of a file is short; after it, bytes that look like an id may be audio. */
const headBytes = 4096
const timestamp = 0xe7
const simpleBlock = 0xa3
const blockGroup = 0xa0
const block = 0xa1

function numberIn(bytes: Buffer, id: Buffer, from: number): number | undefined {
  const data = dataOf(bytes, id, from)
  return data && data.length > 0 && data.length <= 6 ? data.readUIntBE(0, data.length) : undefined
}

function floatIn(bytes: Buffer, id: Buffer, from: number): number | undefined {
  const data = dataOf(bytes, id, from)
  if (data?.length === 4) return data.readFloatBE(0)
  return data?.length === 8 ? data.readDoubleBE(0) : undefined
}

function dataOf(bytes: Buffer, id: Buffer, from: number): Buffer | undefined {
  const at = bytes.subarray(0, from + headBytes).indexOf(id, from)
  const size = at < 0 ? undefined : sizeAt(bytes, at + id.length)
  return size && bytes.subarray(size.end, size.end + size.value)
}

/** A variable-length integer whose leading zeros are its length in bytes. All ones mean an unknown size. */
function sizeAt(bytes: Buffer, at: number): { value: number; end: number } | undefined {
  const first = bytes[at] ?? 0
  const length = Math.clz32(first) - 23
  if (first === 0 || at + length > bytes.length) return undefined
  let value = first & (0xff >> length)
  for (let next = at + 1; next < at + length; next++) value = value * 256 + (bytes[next] ?? 0)
  const unknown = value === 2 ** (7 * length) - 1
  return { value: unknown ? 0 : value, end: at + length }
}

/** A cluster holds seconds of audio in blocks of some milliseconds, so it has far fewer elements. */
const elementsMax = 1_000_000

/** The start of the last block, in the time unit of the file. Undefined for more elements than a recording has. */
function lastBlockOf(bytes: Buffer, cluster: number): number | undefined {
  let base = 0
  let latest = 0
  let at = sizeAt(bytes, cluster + ids.cluster.length)?.end ?? bytes.length
  for (let elements = 0; at < bytes.length; elements++) {
    if (elements > elementsMax) return undefined
    const id = bytes[at]
    const size = sizeAt(bytes, at + 1)
    if (!size) break
    const isWhole = size.end + size.value <= bytes.length
    if (id === timestamp && isWhole && size.value > 0 && size.value <= 6) base = bytes.readUIntBE(size.end, size.value)
    if (id === simpleBlock || id === block) latest = Math.max(latest, offsetOf(bytes, size.end))
    at = id === blockGroup ? size.end : size.end + size.value
  }
  return base + latest
}

/** The time of a block relative to its cluster: a signed 16-bit integer after the track number. */
function offsetOf(bytes: Buffer, at: number): number {
  const track = sizeAt(bytes, at)
  return track && track.end + 2 <= bytes.length ? bytes.readInt16BE(track.end) : 0
}
