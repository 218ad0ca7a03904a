import type { RecordedRequest } from '../../../../contract/entities/recording.ts'

/** Headers that affect the reply; others belong to the client program or its connection. */
const kept = /^(?:content-type|accept|anthropic-(?:version|beta)|openai-beta|x-goog-api-client|idempotency-key)$/
const keyHeaders = ['x-api-key', 'x-goog-api-key', 'api-key'] as const

/** A recorded request as a command, with `$SLUICE_KEY` in place of the key. `address` is that of this site. */
export function curlOfRecording({ method, url, headers, body }: RecordedRequest, address: string): string {
  const keyHeader = keyHeaders.find((name) => headers.some(([sent]) => sent === name))
  const [path = '', query = ''] = url.replace(/^\/pg\//, '/v1/').split('?')
  const params = query.split('&').filter((param) => param !== '' && !/^(?:key|api[-_]?key)=/i.test(param))
  const target = `${address}${path}${params.length > 0 ? `?${params.join('&')}` : ''}`
  return [
    `curl -N -X ${method} ${quoted(target)}`,
    keyHeader ? `  -H "${keyHeader}: $SLUICE_KEY"` : '  -H "authorization: Bearer $SLUICE_KEY"',
    ...headers.filter(([name]) => kept.test(name)).map(([name, value]) => `  -H ${quoted(`${name}: ${value}`)}`),
    ...(body.text === '' ? [] : [`  --data-raw ${quoted(body.text)}`]),
  ].join(' \\\n')
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
