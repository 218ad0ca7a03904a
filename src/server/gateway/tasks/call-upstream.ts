import { readJson } from '../../base/lib/bytes/read-json.ts'
import { callConfigured, type UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { parseUrl } from '../../base/lib/net/parse-url.ts'
import { CallFailure, type Reply } from '../../base/lib/net/upstream-http/exchange.ts'
import type { AttemptTrace } from '../../usage/calls/call-traces.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import { withHeaderOverrides } from '../channels/request/override.ts'
import { isObject, type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'
import type { CallerHeaders } from '../providers/provider.ts'
import { UpstreamFailure, withCleanFacts } from '../relay/upstream/failure.ts'

/** One call to an upstream of drawings, music or clips. */
export interface TaskCall {
  readonly method?: 'GET' | 'POST'
  /** The path, appended to the channel's address. */
  readonly path?: string
  /** The whole address instead, with the headers that authorize the call. */
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Headers of the request that causes the call. */
  readonly caller?: CallerHeaders
  readonly trace?: AttemptTrace | undefined
  readonly timeoutMs: number
  readonly sizeBytesMax: number
}

/** The JSON object of the reply, or the failure: without the secrets of the channel, and after its status mapping. */
export async function callUpstream(
  agents: UpstreamAgents,
  channel: RunningChannel,
  question: TaskCall,
): Promise<JsonObject | UpstreamFailure> {
  const answer = await askOnce(agents, channel, question)
  return answer instanceof UpstreamFailure ? withCleanFacts(answer, channel) : answer
}

async function askOnce(
  agents: UpstreamAgents,
  channel: RunningChannel,
  {
    method = 'POST',
    path = '',
    url = `${channel.baseUrl}${path}`,
    headers = keyOf(channel),
    body,
    caller,
    trace,
    timeoutMs,
    sizeBytesMax,
  }: TaskCall,
): Promise<JsonObject | UpstreamFailure> {
  const address = trace && parseUrl(url)
  let reply: Reply
  try {
    reply = await callConfigured(agents, {
      url,
      method,
      headers: {
        ...withHeaderOverrides(
          channel,
          {
            accept: 'application/json',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...headers,
          },
          caller,
        ),
        ...(address ? trace?.headersTo(address) : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      proxy: channel.setting.proxy ?? '',
      timeoutMs,
      sizeBytesMax,
    })
  } catch (cause) {
    if (!(cause instanceof CallFailure)) throw cause
    const kind = cause.kind === 'timeout' ? 'timeout' : cause.kind === 'unreachable' ? 'unreachable' : 'bad-reply'
    return new UpstreamFailure(kind, { cause, facts: { message: cause.message } })
  }
  const status = channel.statusCodeMapping.get(reply.status) ?? reply.status
  const parsed = parse(reply.body)
  if (status < 200 || status > 299)
    return new UpstreamFailure('status', { status, isMapped: status !== reply.status, facts: { message: messageOf(parsed) } })
  return isObject(parsed) ? parsed : new UpstreamFailure('bad-reply', { facts: { message: 'the answer is not a JSON object' } })
}

/** Like `callUpstream`, for a reply that is a list, bare or as `data`. Items that are not objects are left out. */
export async function callUpstreamList(
  agents: UpstreamAgents,
  channel: RunningChannel,
  question: TaskCall,
): Promise<readonly JsonObject[] | UpstreamFailure> {
  const answer = await callUpstream(agents, channel, question)
  if (answer instanceof UpstreamFailure) return answer
  const list = answer[wholeList] ?? answer.data
  if (!Array.isArray(list)) return new UpstreamFailure('bad-reply', { facts: { message: 'the answer is not a list' } })
  return list.filter(isObject)
}

function keyOf({ provider, key }: RunningChannel): Record<string, string> {
  return provider.tasks === 'drawing' ? { 'mj-api-secret': key } : { authorization: `Bearer ${key}` }
}

/** The member that contains a bare list, so that every reply is an object. */
const wholeList = '[]'

function parse(body: Buffer): unknown {
  const value = readJson(body)
  return Array.isArray(value) ? { [wholeList]: value } : value
}

function messageOf(parsed: unknown): string {
  if (!isObject(parsed)) return ''
  const error = objectAt(parsed, 'error')
  return textAt(parsed, 'description') || textAt(parsed, 'message') || (error ? textAt(error, 'message') : '')
}
