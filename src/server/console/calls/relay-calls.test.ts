import { expect, it } from 'vitest'
import { findEndpoint, relayLines } from '../../gateway/relay/http/endpoints.ts'
import { relayCalls } from './relay-calls.ts'

/** Other addresses of calls that are described, and calls of the playground and of upstreams. */
const others = [
  ...[
    'POST /pg/chat/completions',
    'POST /pg/batches',
    'GET /pg/batches/{id}/results',
    'GET /pg/files/{id}/content',
    'GET /pg/videos',
    'POST /pg/videos',
    'GET /pg/videos/{id}',
    'DELETE /pg/videos/{id}',
    'POST /pg/decisions',
    'POST /pg/images/generations',
    'GET /pg/requests/{id}/events',
    'POST /pg/requests/{id}/cancel',
    'POST /mj/notify',
    'POST /v1/engines/{model}/embeddings',
    'GET /v1/tunedModels/{id}',
  ],
  ...['POST /v2/rerank', 'POST /rerank', 'GET /v1/dashboard/billing/subscription', 'GET /v1/dashboard/billing/usage'],
  ...['POST /upload/v1/files', 'GET /v1/files/{id}:download'],
  ...['POST /v1/interactions', 'GET /v1/interactions/{id}', 'DELETE /v1/interactions/{id}', 'POST /v1/interactions/{id}/cancel'],
]

it('every call that the relay answers is described once, under one of its addresses', () => {
  const answered = relayLines().filter((line) => {
    const [method = '', path = ''] = line.split(' ')
    if (method === 'WEBSOCKET') return false
    const found = findEndpoint(method, path.replaceAll(/\{\w+\}/g, '1'), {})
    return 'kind' in found && !['not-offered', 'socket', 'unknown'].includes(found.kind)
  })
  const described = relayCalls().map(({ method, path }) => `${method} ${path}`)
  expect(new Set(described).size).toBe(described.length)
  expect([...described, ...others].sort()).toEqual(answered.sort())
})
