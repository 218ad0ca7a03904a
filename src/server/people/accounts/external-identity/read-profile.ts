import { fail } from '../../../base/lib/failure.ts'

/** Reads replies of providers: any member may be missing or of another type. */
export type ProviderAnswer = Readonly<Record<string, unknown>>

export function textOf(answer: ProviderAnswer, name: string): string {
  const value = answer[name]
  return typeof value === 'string' ? value : ''
}

/**
 * A numeric id, as text. Refuses zero, and a number that JSON cannot represent exactly: it could be the id of another person.
 * Throws `outside_failed`.
 */
export function numericId(answer: ProviderAnswer, name = 'id'): string {
  const value = answer[name]
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && /^[1-9]\d{0,18}$/.test(text) ? text : fail('outside_failed', {}, { detail: 'no numeric id' })
}

/** Throws `outside_failed`. */
export function requireText(answer: ProviderAnswer, name: string, lengthMax = 8192): string {
  const text = textOf(answer, name)
  return text !== '' && text.length <= lengthMax ? text : fail('outside_failed', {}, { detail: `no ${name}` })
}

/** Basic credentials by RFC 6749, section 2.3.1: both parts are form-encoded first. */
export function basicAuth(id: string, secret: string): string {
  const encode = (text: string) => new URLSearchParams({ a: text }).toString().slice(2)
  return `Basic ${Buffer.from(`${encode(id)}:${encode(secret)}`).toString('base64')}`
}
