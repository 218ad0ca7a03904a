/** Vectors on the wire: lists of numbers, or base64 of 32-bit floats, little-endian. Source: protocols notes 1.4. */
export function vectorToBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * floatBytes)
  for (const [at, value] of vector.entries()) bytes.writeFloatLE(value, at * floatBytes)
  return bytes.toString('base64')
}

/** A vector in either form; undefined for other values, such as a list of several vectors. */
export function readVector(value: unknown): readonly number[] | undefined {
  if (typeof value === 'string') return readBase64(value)
  return Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'number') ? value : undefined
}

function readBase64(text: string): number[] | undefined {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0 || bytes.length % floatBytes !== 0) return undefined
  return Array.from({ length: bytes.length / floatBytes }, (_, at) => bytes.readFloatLE(at * floatBytes))
}

const floatBytes = 4
