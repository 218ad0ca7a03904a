import type { RunningChannel } from '../../channels/model-index.ts'
import type { CallerHeaders } from '../../providers/provider.ts'
import type { UpstreamFailure } from '../upstream/failure.ts'
import type { UpstreamCallParts } from '../upstream/request-target.ts'
import { callUpstream, type UpstreamAnswer, type UpstreamCall } from '../upstream/request-target.ts'

/** A call about a response that an upstream stores: `/v1/responses/{id}` and the paths below it. */
export interface AboutResponse {
  readonly id: string
  /** The upstream's model name; some hosts need it in the URL. */
  readonly model: string
  readonly caller: CallerHeaders
  readonly query?: URLSearchParams
}

export type ResponseAction = 'read' | 'delete' | 'cancel' | 'items'

const methods = { read: 'GET', delete: 'DELETE', cancel: 'POST', items: 'GET' } as const
const suffixes = { read: '', delete: '', cancel: '/cancel', items: '/input_items' } as const
const timeoutMs = 60_000

export function callAbout(action: ResponseAction, { id, model, caller, query }: AboutResponse): UpstreamCall {
  return {
    format: 'openai.responses',
    model,
    method: methods[action],
    suffix: `/${encodeURIComponent(id)}${suffixes[action]}`,
    ...(query ? { query } : {}),
    caller,
    timeoutMs,
  }
}

export function askAbout(
  app: UpstreamCallParts,
  channel: RunningChannel,
  action: ResponseAction,
  about: AboutResponse,
): Promise<UpstreamAnswer | UpstreamFailure> {
  return callUpstream(app, channel, callAbout(action, about))
}

export function cancelResponse(app: UpstreamCallParts, channel: RunningChannel, about: AboutResponse) {
  return askAbout(app, channel, 'cancel', about)
}
