import type { EndedCall } from '../../src/server/usage/calls/ended-calls.ts'

/** A call that was answered by a channel at once; `more` replaces members. */
export function endedCall(more: Partial<EndedCall> = {}): EndedCall {
  return {
    id: 'request-1',
    caller: { userId: 1, username: 'root', tokenId: 1, tokenName: 'test' },
    group: 'default',
    kind: 'relay',
    dialect: 'openai',
    format: 'openai.chat',
    method: 'POST',
    url: '/v1/chat/completions',
    address: '127.0.0.1',
    userAgent: 'test/1',
    model: 'gpt-4o-mini',
    stream: false,
    status: 200,
    failure: undefined,
    attempts: [],
    startedMs: 0,
    durationMs: 10,
    firstByteMs: undefined,
    queueMs: 0,
    holdMs: 0,
    commitMs: 0,
    tokensIn: 3,
    tokensOut: 2,
    usages: [],
    quota: 1,
    bytesIn: 100,
    bytesOut: 200,
    ...more,
  }
}
