import type { Provider } from './provider.ts'

/**
 * A base URL that was pasted with the path of a call at its end, without that path: the path of any known endpoint, up to its
 * version, which `joinUrl` understands, or else one of the provider's own paths as a whole.
 */
export function withoutCallPath(
  { speaks, addressIsWhole }: Pick<Provider, 'speaks' | 'addressIsWhole'>,
  address: string,
): string {
  if (addressIsWhole) return address
  const server = /^[a-z]+:\/\/[^/]+/i.exec(address)?.[0]
  if (server === undefined) return address
  const path = address.slice(server.length)
  const known = path.replace(callPath, '')
  if (known !== path) return server + known
  const own = Object.values(speaks).filter((each) => each.length > 1 && !each.includes('{') && path.endsWith(each))
  const longest = Math.max(0, ...own.map(({ length }) => length))
  return longest === 0 ? address : address.slice(0, -longest)
}

/** Azure names a deployment before the call, and Gemini a model behind it. */
const callPath =
  /(?:(?:\/openai\/deployments\/[^/]+)?(?:\/chat\/completions|\/completions|\/embeddings)|\/openai\/responses|\/responses(?:\/compact|\/input_tokens)?|\/messages(?:\/count_tokens)?|\/images\/(?:generations|edits|variations)|\/audio\/(?:speech|transcriptions|translations)|\/moderations|\/rerank|\/realtime|\/v1(?:alpha|beta)\/models(?:\/[^/]+)?|(?<=\/v\d\w{0,9})\/models)$/
