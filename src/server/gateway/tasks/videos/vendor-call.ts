import type { RunningChannel } from '../../channels/index/model-index.ts'
import { bearer } from '../../providers/openai-compatible.ts'
import type { VideoRequest } from '../../providers/videos/video-vendor.ts'
import type { RelayParts } from '../../relay/relay-parts.ts'
import { UpstreamFailure } from '../../relay/upstream/failure.ts'
import type { TaskCall } from '../call-upstream.ts'

/** The headers that authorize a call to the vendor. */
export function vendorHeaders(keyed: RunningChannel): Record<string, string> {
  return keyed.provider.videos?.headers?.(keyed) ?? bearer(keyed.key)
}

/** The call that a vendor's declaration has written. `keyed`: the channel with an access token in place of its key. */
export function vendorCall(
  keyed: RunningChannel,
  { method, url, headers, body }: VideoRequest,
): Pick<TaskCall, 'method' | 'url' | 'headers' | 'body'> {
  return { method, url, headers: { ...vendorHeaders(keyed), ...headers }, ...(body ? { body } : {}) }
}

/** The channel with the access token that its vendor requires in place of the key. */
export async function keyedChannel(
  app: Pick<RelayParts, 'accessTokens'>,
  channel: RunningChannel,
): Promise<RunningChannel | UpstreamFailure> {
  if (!channel.provider.accessToken) return channel
  const key = await app.accessTokens.get(channel)
  return key instanceof UpstreamFailure ? key : { ...channel, key }
}
