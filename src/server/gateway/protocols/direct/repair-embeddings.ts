import { entriesOf, type Member, membersOf } from '../../../base/lib/bytes/splice-json.ts'
import { fail } from '../../../base/lib/failure.ts'
import { arrayAt, isObject, type JsonObject } from '../wire-format.ts'
import { readVector, vectorToBase64 } from './vectors.ts'

/**
 * Repairs an embeddings reply: every vector in the requested encoding, in the order of the inputs. The official SDKs request base64 by
 * default, and would misread the numbers of hosts that ignore it. Undefined when no change is needed, which is decided without parsing
 * the numbers. Throws `untranslatable` when the host ignored the number of dimensions. Source: protocols notes 1.4, edge cases 221 to
 * 224 and 228. Throws `upstream_failed` for fewer vectors than inputs, or an empty one.
 */
export function repairEmbeddings(reply: Buffer, asked: JsonObject): Buffer | undefined {
  // Vectors of bits or bytes, in the vendor's own members, are passed through.
  if (asked.embedding_type !== undefined || asked.output_dtype !== undefined || asked.embedding_types !== undefined)
    return undefined
  const list = membersOf(reply)?.findLast(({ key }) => key === 'data')
  const entries = (list && entriesOf(reply, list.valueStart)) ?? []
  const [first] = entries
  if (!first) return undefined
  requireVectors(reply, entries, inputsOf(asked.input))

  const isBase64 = asked.encoding_format === 'base64'
  const embedding = parseObject(reply, first)?.embedding
  requireDimensions(embedding, asked.dimensions)
  const isEncoded = isBase64 === (typeof embedding === 'string')
  const isOrdered = entries.every((entry, at) => indexIn(reply, entry) === at)
  return isEncoded && isOrdered ? undefined : rewritten(reply, isBase64)
}

/** The number of inputs, each with a vector of its own. Parts that are objects, such as images, may share one. */
function inputsOf(input: unknown): number {
  if (!Array.isArray(input) || typeof input[0] === 'number' || input.some(isObject)) return 1
  return input.length
}

function requireVectors(reply: Buffer, entries: readonly Place[], inputs: number): void {
  const vectors = entries.filter((entry) => hasVector(reply, entry)).length
  if (vectors === entries.length && vectors >= inputs) return
  fail('upstream_failed', {
    reason: { zh: `它只给出 ${vectors} 个向量，而输入有 ${inputs} 个`, en: `it gave ${vectors} vectors for ${inputs} inputs` },
  })
}

/** Whether the entry has a vector that is not empty, decided without parsing it. */
function hasVector(text: Buffer, { start, end }: Place): boolean {
  for (let at = text.indexOf(vectorMember, start); at >= 0 && at < end; at = text.indexOf(vectorMember, at + 1)) {
    const [, value] = /^"embedding"\s*:\s*(.{0,40})/s.exec(text.toString('latin1', at, Math.min(at + 80, end))) ?? []
    if (value !== undefined) return !emptyVector.test(value)
  }
  return false
}

/** Also the value of `object`, which no colon follows. */
const vectorMember = '"embedding"'
const emptyVector = /^(?:null|\[\s*\]|""|\{\s*\})/

type Place = Pick<Member, 'start' | 'end'>

function parseObject(text: Buffer, { start, end }: Place): JsonObject | undefined {
  const value: unknown = JSON.parse(text.toString('utf8', start, end))
  return isObject(value) ? value : undefined
}

function requireDimensions(embedding: unknown, dimensions: unknown): void {
  const vector = typeof dimensions === 'number' ? readVector(embedding) : undefined
  if (vector && vector.length !== dimensions)
    fail('untranslatable', { field: 'dimensions', reason: ignoredDimensions(vector.length) })
}

/** The explanation for an ignored number of dimensions. */
export function ignoredDimensions(length: number) {
  return { zh: `上游只给出 ${length} 维的向量`, en: `the upstream only gives vectors of ${length} dimensions` }
}

/** The index of an entry, before or after its vector. */
function indexIn(text: Buffer, { start, end }: Place): number | undefined {
  const at = text.indexOf('"index"', start)
  if (at < 0 || at >= end) return undefined
  const [, digits] = /^"index"\s*:\s*(\d{1,9})\s*[,}]/.exec(text.toString('latin1', at, Math.min(at + 40, end))) ?? []
  return digits === undefined ? undefined : Number(digits)
}

function rewritten(reply: Buffer, isBase64: boolean): Buffer {
  const whole = parseObject(reply, { start: reply[0] === 0xef ? 3 : 0, end: reply.length }) ?? {}
  const entries = arrayAt(whole, 'data').filter(isObject)
  const data = entries
    .map((entry, at) => ({ entry, place: typeof entry.index === 'number' ? entry.index : at }))
    .sort((a, b) => a.place - b.place)
    .map(({ entry }, index) => ({ ...entry, index, embedding: encoded(entry.embedding, isBase64) }))
  return Buffer.from(JSON.stringify({ ...whole, data }))
}

/** Invalid vectors are left unchanged. */
function encoded(embedding: unknown, isBase64: boolean): unknown {
  if (isBase64 === (typeof embedding === 'string')) return embedding
  const vector = readVector(embedding)
  if (!vector) return embedding
  return isBase64 ? vectorToBase64(vector) : vector
}
