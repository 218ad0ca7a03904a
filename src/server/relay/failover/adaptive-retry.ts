import type { OptionalEndpoint } from '../../../contract/entities/channel.ts'
import { optionalEndpointOf, recordMissingEndpoint, withoutEndpoint } from '../../channels/missing-endpoints.ts'
import { resolveModel } from '../../channels/select.ts'
import { upstreamFormat } from '../../channels/upstream-format.ts'
import { background } from '../../lib/logger.ts'
import type { Core } from '../../options/core.ts'
import { hasThoughts } from '../../protocols/anthropic-messages/past-thinking.ts'
import type { AttemptState, RelayParts } from '../relay-parts.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import { noteStreamOptionsRefused, refusesStreamOptions } from '../upstream/request-target.ts'

/**
 * Refusals that another wording of the same request avoids: an access token that was withdrawn before its time, `stream_options` where
 * an upstream does not know them, and sealed reasoning that no longer fits. Answers whether the channel is to be asked once more; what was
 * learnt is kept, so that this happens once.
 */
export function isWorthRetry(app: Pick<RelayParts, 'accessTokens'>, attempt: AttemptState, failure: UpstreamFailure): boolean {
  const { request, shared, channel } = attempt
  if (failure.kind !== 'status' || request.call.isCommitted || request.call.isAborted) return false
  const { status, facts } = failure
  if (status === 401 && channel.provider.accessToken) {
    app.accessTokens.forget(channel)
    return true
  }
  if (status !== 400 && status !== 422) return false
  if (facts.message.includes('stream_options') && !refusesStreamOptions(channel)) {
    noteStreamOptionsRefused(channel)
    return true
  }
  if (!shared.leavesReasoning && staleReasoning.test(facts.message) && mayLeaveReasoning(attempt)) {
    shared.leavesReasoning = true
    return true
  }
  return false
}

/**
 * The endpoint that the upstream of a channel was found to lack by this attempt, when the call can be translated to one that it has. Twice
 * in a row, the channel is known to lack it.
 */
export function missingEndpoint(
  app: Core & Pick<RelayParts, 'endpointMisses'>,
  { request, channel }: AttemptState,
  result: 'answered' | UpstreamFailure,
): OptionalEndpoint | undefined {
  const { format, facts, body, call, storingChannel } = request
  const isMissing = result !== 'answered' && result.isOfMissingEndpoint
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

/** Of the requests that pass as they are, only those in Messages name the reasoning that they bring back. */
function mayLeaveReasoning({ translation, request: { format, body } }: AttemptState): boolean {
  return translation !== undefined || (format.format === 'anthropic.messages' && hasThoughts(body.json))
}

/** What vendors say of reasoning that was changed, or that another model or key has sealed. Source: protocols notes 3.7. */
const staleReasoning = /signature|thinking.{0,80}(cannot be modified|must|expected)|encrypted.?content|thought_?signature/i
