/**
 * Gemini says in the path which model is asked and what for: `/v1beta/models/{model}:generateContent`, the colon perhaps as `%3A`.
 * Undefined for a path without a method. Source: protocols notes 1.13.
 */
export function readGeminiPath(path: string): { model: string; method: string } | undefined {
  const [, name, method] = methodPath.exec(decodePath(path)) ?? []
  return name === undefined || method === undefined ? undefined : { model: plainModel(name), method }
}

/** The name that a model has here, without the collection that it may bear, even twice. Tuned models keep theirs: it tells them apart. */
export function plainModel(name: string): string {
  return name.replace(/^(?:(?:publishers\/google\/)?models\/)+/, '')
}

/** Without `alt=sse` a stream is one JSON array. */
export function asksForEvents(url: string): boolean {
  const query = url.indexOf('?')
  return query >= 0 && new URLSearchParams(url.slice(query)).get('alt') === 'sse'
}

export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Clients of the cloud's edition ask for `v1beta1`. */
const methodPath = /^\/v1(?:beta1?|alpha)?\/((?:models|tunedModels|publishers\/google\/models)\/.+):([a-zA-Z]+)$/
