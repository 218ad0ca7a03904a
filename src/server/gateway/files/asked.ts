import { fail } from '../../base/lib/failure.ts'
import { groupsToTry } from '../../money/pricing/groups.ts'
import type { RelayCaller } from '../../people/tokens/authenticate.ts'
import { findUsedKey } from '../channels/index/find-used-key.ts'
import type { ChannelIndex, RunningChannel } from '../channels/index/model-index.ts'
import type { RateLimitLease } from '../limits/rate-limit-lease.ts'
import type { StoreFormat } from '../protocols/format.ts'
import type { KeptFile } from '../relay/conversations/kept-files.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import type { UpstreamFailure } from '../relay/upstream/failure.ts'
import { withCleanFacts } from '../relay/upstream/failure.ts'

/** A call about files whose caller is known. */
export interface Asked {
  readonly call: ClientExchange
  readonly caller: RelayCaller
  readonly lease: RateLimitLease | undefined
}

/** The model for which a caller stores a file, so that it is stored where the model is served. */
const modelHeader = 'x-sluice-model'

/**
 * The group and the model by whose channels a new file is stored: the model that the caller names, else one of those that it may use at
 * the channel of highest priority that stores files. Throws `files_no_channel`.
 */
export function placeFor(
  app: Pick<RelayParts, 'channels' | 'options'>,
  { call, caller }: Asked,
  format: StoreFormat,
): { readonly group: string; readonly model: string } {
  const groups = groupsToTry(app.options.current, caller)
  const wished = call.request.headers[modelHeader]
  const index = app.channels.current
  for (const group of groups) {
    const models = typeof wished === 'string' ? [wished] : modelsOf(index, group, caller)
    const found = models
      .filter((model) => caller.modelLimits?.has(model) ?? true)
      .flatMap((model) => {
        const channel = index
          .candidates(group, model)
          .flat()
          .find((each) => stores(each, caller, format))
        return channel ? [{ model, priority: channel.priority }] : []
      })
      .sort((one, other) => other.priority - one.priority)[0]
    if (found) return { group, model: found.model }
  }
  fail('files_no_channel', { group: groups[0] ?? caller.userGroup })
}

function modelsOf(index: ChannelIndex, group: string, { modelLimits }: RelayCaller): readonly string[] {
  return [...new Set([...(modelLimits ?? []), ...index.modelsOf(group)])]
}

function stores(channel: RunningChannel, { pinnedChannel }: RelayCaller, format: StoreFormat): boolean {
  return channel.provider.speaks[format] !== undefined && (pinnedChannel === 0 || channel.id === pinnedChannel)
}

/** The channel and key that have a file, although the channel may be disabled by now. Throws `file_channel_gone`. */
export async function channelOf(app: RelayParts, { id, channelId, keyId }: KeptFile): Promise<RunningChannel> {
  const channel = await findUsedKey(app, { channelId, keyId })
  return channel ?? fail('file_channel_gone', { id })
}

/** Tells the caller the failure of a vendor. */
export function tellFailure({ call }: Asked, failure: UpstreamFailure, channel: RunningChannel): void {
  call.sendError(withCleanFacts(failure, channel).forCaller())
}

/**
 * The address of this site as the caller has used it, for the URIs of files. The scheme is that of the address which the operator has set
 * for the same host, or as a proxy has told it.
 */
export function siteOf(app: Pick<RelayParts, 'env' | 'options'>, { request }: ClientExchange): string {
  const { ServerAddress } = app.options.current
  const { host = '', 'x-forwarded-proto': forwarded } = request.headers
  const isSecure = ServerAddress === `https://${host}` || forwarded === 'https'
  return host === '' ? ServerAddress : `${isSecure ? 'https' : 'http'}://${host}${app.env.BASE_PATH}`
}

/** The query of a call. */
export function queryOf({ request }: ClientExchange): URLSearchParams {
  const { url = '' } = request
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at))
}

export function answerJson({ call }: Asked, object: unknown): void {
  call.answer('application/json', Buffer.from(JSON.stringify(object)))
}
