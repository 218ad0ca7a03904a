import type { OptionalEndpoint } from '../../../../contract/entities/channel.ts'
import { background } from '../../../base/lib/log/logger.ts'
import type { Core } from '../../../base/options/core.ts'
import { upstreamFormat } from '../../channels/request/upstream-format.ts'
import { optionalEndpointOf, recordMissingEndpoint, withoutEndpoint } from '../../channels/row/missing-endpoints.ts'
import { resolveModel } from '../../channels/select/select.ts'
import { formats } from '../../protocols/index.ts'
import { isObject, textAt, type UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import type { AttemptState } from '../response/attempt-state.ts'
import type { AccessTokens } from '../upstream/call-upstream.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import { noteRefusedReasoning } from '../upstream/refused-reasoning.ts'
import { hasRefused, noteRefused, sendsNewerVersion } from '../upstream/request-target.ts'
import { asksBase64 } from './prepare-attempt.ts'

/** When a failed attempt is repeated on the same channel with a changed request, and what is remembered of it for later requests. */

/**
 * Refusals that a changed request avoids: an access token that was revoked early, `stream_options`, an encoding of vectors or a
 * version of the interface that an upstream does not know, and sealed reasoning that is no longer valid. Returns whether to repeat the
 * request to the channel; the finding is remembered, so that this happens once.
 */
export function isWorthRetry(
  app: { readonly accessTokens: AccessTokens },
  attempt: AttemptState,
  failure: UpstreamFailure,
): boolean {
  const { request, shared, channel } = attempt
  if (failure.kind !== 'status' || request.call.isCommitted || request.call.isAborted) return false
  const { status, facts } = failure
  if (status === 401 && channel.provider.accessToken) {
    app.accessTokens.forget(channel)
    return true
  }
  if (status !== 400 && status !== 422) return false
  if (facts.message.includes('stream_options') && !hasRefused(channel, 'stream_options')) {
    noteRefused(channel, 'stream_options')
    return true
  }
  if (asksBase64(request) && !hasRefused(channel, 'base64') && /^$|encoding_format|base64/i.test(facts.message)) {
    noteRefused(channel, 'base64')
    return true
  }
  if (versionNamed.test(facts.message) && sendsNewerVersion(request, channel)) {
    noteRefused(channel, 'newer_version')
    return true
  }
  if (!shared.leavesReasoning && isOfReasoning(facts) && mayLeaveReasoning(attempt)) {
    shared.leavesReasoning = true
    return true
  }
  return false
}

/** Remembers the reasoning that the channel has refused, after it has answered without it: later turns do not send it again. */
export function noteReasoningLeft({ request: { body, format }, shared, channel, translation }: AttemptState): void {
  const seal = translation ? shared.lastSeal : formats[format.format].pastThoughts?.seals(body.json).at(-1)
  if (seal) noteRefusedReasoning(channel, seal)
}

/**
 * The endpoint that this attempt found missing at the upstream, when the call can be translated to one that the upstream has. After
 * two such attempts in a row the endpoint is recorded as missing.
 */
export function missingEndpoint(
  app: Core & Pick<GatewayParts, 'endpointMisses'>,
  { request, channel }: AttemptState,
  failure: UpstreamFailure | undefined,
): OptionalEndpoint | undefined {
  const { format, facts, body, call, storingChannel } = request
  const isMissing = failure?.isOfMissingEndpoint === true
  if (!isMissing && !app.endpointMisses.any) return undefined
  const asked = { format: format.format, model: resolveModel(channel, facts.model), body: body.json }
  const endpoint = optionalEndpointOf(upstreamFormat(channel, asked) ?? format.format)
  if (!endpoint) return undefined
  if (!isMissing) {
    app.endpointMisses.found(channel, endpoint)
    return undefined
  }
  if (app.endpointMisses.missed(channel, endpoint)) {
    background(app.logger, 'note an endpoint that a channel lacks', recordMissingEndpoint(app, channel, endpoint))
  }
  const isTranslatable = upstreamFormat(withoutEndpoint(channel, endpoint), asked) !== undefined
  // A conversation stored at an upstream cannot be continued in another format.
  return isTranslatable && !storingChannel && !call.isCommitted && !call.isAborted ? endpoint : undefined
}

/** Requests that pass unchanged may repeat the reasoning of earlier turns. A strict token gets the vendor's error instead of a loss. */
function mayLeaveReasoning({ translation, request: { format, body, caller } }: AttemptState): boolean {
  if (caller.isStrict) return false
  return translation !== undefined || formats[format.format].pastThoughts?.has(body.json) === true
}

/** The version as hosts name it, in the header or in the body. */
const versionNamed = /anthropic[-_]version/i

/** Whether an error is about reasoning that was changed, or is bound to another model, account or conversation. */
function isOfReasoning({ message, code, extra }: UpstreamErrorFacts): boolean {
  const details = extra?.members.details
  const told = [code, isObject(details) ? textAt(details, 'error_code') : '', message].join(' ')
  return staleReasoning.test(told) || boundReasoning.test(told)
}

/** Error messages of vendors about reasoning that was changed, or sealed for another model or key. Source: protocols notes 3.7. */
const staleReasoning = /signature|thinking.{0,80}(cannot be modified|must|expected)|encrypted.?content|thought_?signature/i
/** The words for what reasoning is bound to, as in `input_transformations`: Anthropic's reasons and OpenAI's. */
const boundReasoning =
  /(binding|organi[sz]ation|end_user|model|prefix)_mismatch|block_binding|(thinking|reasoning).{0,80}\b(bound|prefix|organi[sz]ation|account|another model|different model)\b/i
