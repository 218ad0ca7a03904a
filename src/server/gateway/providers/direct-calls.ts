import { plainDocuments } from '../protocols/direct/rerank-results.ts'
import type { Format } from '../protocols/format.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import type { Provider } from './provider.ts'

type Changes = Record<string, unknown>
type Adjust = (body: JsonObject, model: string) => Changes
type Host = Pick<Provider, 'quirks'> & Required<Pick<Provider, 'adjustBody'>>

/** A Chat host with its changes to calls other than conversations. */
export function withDirectCalls({ quirks, adjustBody }: Host, calls: Readonly<Partial<Record<Format, Adjust>>>): Host {
  return {
    quirks,
    adjustBody: (body, format, model, caller) => calls[format]?.(body, model) ?? adjustBody(body, format, model, caller),
  }
}

/**
 * Requests embeddings as numbers from a host that returns only numbers, and may refuse other encodings: the gateway encodes the
 * reply.
 */
export function requestFloats({ encoding_format }: JsonObject): Changes {
  return encoding_format === undefined || encoding_format === 'float' ? {} : { encoding_format: 'float' }
}

/**
 * Converts documents that contain only text to strings, for a host that accepts only strings. Source: protocols notes 1.8, edge
 * case 229.
 */
export function documentsAsTexts(body: JsonObject): Changes {
  const texts = plainDocuments(body)
  const isPlain = Array.isArray(body.documents) && body.documents.every((document) => typeof document === 'string')
  return texts && !isPlain ? { documents: texts } : {}
}

/** Removes members that a host would refuse. */
export function withoutMembers(body: JsonObject, members: readonly string[]): Changes {
  return Object.fromEntries(members.filter((member) => body[member] !== undefined).map((member) => [member, undefined]))
}
