import { describe, expect, it } from 'vitest'
import { UpstreamFailure } from './failure.ts'
import { tellsNoRoute } from './no-route.ts'

const path = '/v1/responses'

describe('an upstream without an endpoint', () => {
  it.each([
    [404, ''],
    [404, '<html><body>nginx</body></html>'],
    [404, '{}'],
    [404, '{"error":{}}'],
    [404, '{"success":false,"error":null}'],
    [404, '{"error":{"message":"Not Found"}}'],
    [404, '{"error":{"message":"Not Found","type":"invalid_request_error","code":404}}'],
    [404, '{"error":"Not Found"}'],
    [404, '{"error":"not_found"}'],
    [404, '{"message":"no Route matched with those values"}'],
    [404, '{"message":"no Route matched with those values","request_id":"abc"}'],
    [404, '{"error":{"code":"404","message":"Resource not found"}}'],
    [404, '{"statusCode":404,"message":"Resource not found"}'],
    [404, '{"detail":"Not Found"}'],
    [405, '{"detail":"Method Not Allowed"}'],
    [404, '404 page not found'],
    [404, '404: Not Found'],
    [404, '{"code":404,"msg":"Not Found"}'],
    [404, '{"errors":[{"message":"Route not found"}]}'],
    [404, '{"type":"about:blank","title":"Not Found","status":404}'],
    [404, '{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.5","title":"Not Found","status":404,"traceId":"00-1"}'],
    [404, '{"type":"about:blank","title":"Not Found","status":404,"detail":"The requested URL was not found on the server."}'],
    [404, '{"timestamp":"2026-11-28T10:00:00Z","status":404,"error":"Not Found","path":"/v1/responses"}'],
    [404, '{"error":"Not Found","message":"No static resource v1/responses."}'],
    [404, '{"message":"Route POST:\\/v1\\/responses not found"}'],
    [404, 'Cannot POST /v1/responses'],
    [404, '{"error":{"message":"Unknown request URL: POST /v1/responses."}}'],
    [404, '{"error":{"message":"The requested resource could not be found"}}'],
    [404, '{"error":{"message":"This endpoint is not supported"}}'],
    [405, '{"error":{"message":"Method not allowed."}}'],
    [501, '{"error":{"message":"Responses are not part of this service yet","type":"not_implemented"}}'],
    [501, 'Not Implemented'],
  ])('is recognised by %i %s', (status, text) => {
    expect(tellsNoRoute(status, text, path)).toBe(true)
    expect(failureOf(status, text).isOfMissingEndpoint).toBe(true)
  })

  it.each([
    [400, '{"error":{"message":"Not Found"}}'],
    [404, '{"error":{"message":"The resource is gone"}}'],
    [404, '{"error":{"message":"No assistant found with id \'asst_1\'."}}'],
    [404, '{"title":"Not Found","status":404,"detail":"The file f-1 was deleted"}'],
    [404, '{"error":{"message":"The model `m-1` does not exist","code":"model_not_found"}}'],
    [404, '{"error":{"message":"Not Found","code":"model_not_found"}}'],
    [404, '{"error":"model \'m-1\' not found"}'],
    [404, '{"type":"error","error":{"type":"not_found_error","message":"model: m-1"}}'],
    [404, '{"type":"https://host.example/errors/model-not-found","title":"Not Found","status":404}'],
    [404, '{"error":{"message":"No endpoints found for m-1."}}'],
    [404, '{"error":{"message":"/v1/responses: m-1 is not served"}}'],
    [404, '{"error":{"message":"Previous response with id \'resp_1\' not found.","code":"previous_response_not_found"}}'],
    [501, '{"error":{"message":"This model is not implemented"}}'],
  ])('is not supposed after %i %s', (status, text) => {
    expect(failureOf(status, text).isOfMissingEndpoint).toBe(false)
  })
})

/** The failure as the exchange reports it. */
function failureOf(status: number, text: string): UpstreamFailure {
  return new UpstreamFailure('status', {
    status,
    facts: factsIn(text),
    names: { upstream: 'm-1', asked: 'm-1' },
    noRoute: tellsNoRoute(status, text, path) ? text : undefined,
  })
}

function factsIn(text: string) {
  if (!text.startsWith('{')) return { message: text }
  const { error, message = '' } = JSON.parse(text)
  return typeof error === 'object' && error ? { message: '', type: '', code: '', ...error } : { message: error ?? message }
}
