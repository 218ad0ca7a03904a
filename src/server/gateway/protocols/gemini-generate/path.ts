import { decodeComponent } from '../../../base/lib/net/parse-url.ts'

/**
 * The model and the method in a path of Gemini: `/v1beta/models/{model}:generateContent`, where the colon may be `%3A`. Undefined
 * for a path without a method. Source: protocols notes 1.13.
 */
export function readGeminiPath(path: string): { model: string; method: string } | undefined {
  const [, name, method] = methodPath.exec(decodeComponent(path)) ?? []
  return name === undefined || method === undefined ? undefined : { model: plainModel(name), method }
}

/** The model name without the prefix `models/`, which may be repeated. Tuned models keep their prefix. */
export function plainModel(name: string): string {
  return name.replace(/^(?:(?:publishers\/google\/)?models\/)+/, '')
}

/** Without `alt=sse` a stream is one JSON array. */
export function asksForEvents(url: string): boolean {
  const query = url.indexOf('?')
  return query >= 0 && new URLSearchParams(url.slice(query)).get('alt') === 'sse'
}

/** Vertex clients use `v1beta1`. */
const methodPath = /^\/v1(?:beta1?|alpha)?\/((?:models|tunedModels|publishers\/google\/models)\/.+):([a-zA-Z]+)$/
