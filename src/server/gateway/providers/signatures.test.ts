import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { providerById } from './index.ts'
import type { SignedRequest, Upstream } from './provider.ts'
import { canonicalRequest, signTc3 } from './tc3-signature.ts'

const provider = (type: number) => providerById(type) ?? expect.unreachable(`no provider ${type}`)
const channel = (type: number, more: Partial<Upstream> = {}): Upstream => ({
  id: 1,
  type,
  key: 'k',
  baseUrl: provider(type).baseUrl,
  organization: '',
  other: '',
  setting: {},
  ...more,
})
const request = (url: string, body: object = {}, headers: Record<string, string> = {}): SignedRequest => ({
  method: 'POST',
  url: new URL(url),
  headers: { 'content-type': 'application/json', ...headers },
  body: Buffer.from(JSON.stringify(body)),
})

describe('Tencent Cloud', () => {
  const worked = {
    secretId: 'AKID',
    secretKey: 'secret',
    service: 'cvm',
    action: 'DescribeInstances',
    host: 'cvm.tencentcloudapi.com',
    path: '/',
    contentType: 'application/json; charset=utf-8',
    body: Buffer.from('{"Limit": 1, "Filters": [{"Values": ["\\u672a\\u547d\\u540d"], "Name": "instance-name"}]}'),
  }

  it('signs the text of the example in its documentation, byte for byte', () => {
    // The hash in the documented example of signature version 3, whose keys are not published.
    const hash = '7019a55be8395899b900fb5564e4200d984910f34794a27cb3fb7d10ff6a1e84'
    expect(createHash('sha256').update(canonicalRequest(worked)).digest('hex')).toBe(hash)

    const chain = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest()
    const key = chain(chain(chain('TC3secret', '2019-02-25'), 'cvm'), 'tc3_request')
    const signature = chain(key, `TC3-HMAC-SHA256\n1551113065\n2019-02-25/cvm/tc3_request\n${hash}`).toString('hex')
    expect(signTc3(worked, 1_551_113_065_000)).toEqual({
      'x-tc-timestamp': '1551113065',
      authorization: `TC3-HMAC-SHA256 Credential=AKID/2019-02-25/cvm/tc3_request, SignedHeaders=content-type;host;x-tc-action, Signature=${signature}`,
    })
  })

  it('has the action in headers, and signs with both parts of the key, with or without an application id in front', async () => {
    const headers = provider(23).headers(channel(23), 'hunyuan.chat', {})
    expect(headers).toEqual({ 'x-tc-action': 'ChatCompletions', 'x-tc-version': '2023-09-01' })
    const url = provider(23).url(channel(23), 'hunyuan.chat', 'hunyuan-pro', false)
    const sign = async (key: string) => (await provider(23).sign?.(channel(23, { key }), request(url), 0))?.headers?.authorization
    const long = await sign('1300|AKID|secret')
    expect(long).toContain('Credential=AKID/1970-01-01/hunyuan/tc3_request')
    expect(await sign('AKID|secret')).toBe(long)
    expect(long).not.toContain('secret')
  })
})

describe('Spark', () => {
  it('signs its URL as its documentation does', async () => {
    const key = 'app1|MjlmNzkzNmZkMDQ2OTc0ZDdmNGE2ZTZi|addd2272b6d8b7c8abdd79531420ca3b'
    const url = provider(18).url(channel(18, { other: 'v1.1' }), 'spark.chat', 'SparkDesk', true)
    expect(url).toBe('wss://spark-api.xf-yun.com/v1.1/chat')
    const nowMs = Date.parse('Fri, 05 May 2023 10:43:39 GMT')
    const signed = (await provider(18).sign?.(channel(18, { key }), request(url), nowMs))?.url
    expect(Buffer.from(signed?.searchParams.get('authorization') ?? '', 'base64').toString()).toBe(
      'api_key="addd2272b6d8b7c8abdd79531420ca3b", algorithm="hmac-sha256", headers="host date request-line", ' +
        'signature="z5gHdu3pxVV4ADMyk467wOWDQ9q6BQzR3nfMTjc/DaQ="',
    )
    expect(signed?.searchParams.get('date')).toBe('Fri, 05 May 2023 10:43:39 GMT')
    expect(signed?.searchParams.get('host')).toBe('spark-api.xf-yun.com')
  })

  it("adds the key's application id and the channel's model version to the message", () => {
    const own = provider(18).forChannel?.(channel(18, { key: ' app1 |s|k', other: 'v3.1' }))
    const body = { header: { uid: 'u' }, parameter: { chat: { domain: 'lite', temperature: 1 } } }
    expect(own?.adjustBody?.(body, 'spark.chat', 'SparkDesk')).toEqual({
      header: { uid: 'u', app_id: 'app1' },
      parameter: { chat: { domain: 'generalv3', temperature: 1 } },
    })
    expect(own?.adjustBody?.(body, 'spark.chat', 'SparkDesk-v4.0')).toMatchObject({ parameter: { chat: { domain: '4.0Ultra' } } })
  })

  it('uses a WebSocket and always streams', () => {
    expect(provider(18).framing?.('spark.chat', false)).toBe('websocket')
    expect(provider(18).alwaysStreams).toBe(true)
  })
})

describe('Baidu', () => {
  it('obtains a token for its pair of keys, and puts it into the URL of the call', async () => {
    const exchange = provider(15).accessToken?.(channel(15, { key: 'id|secret' }), 0)
    expect(exchange?.url).toBe(
      'https://aip.baidubce.com/oauth/2.0/token?grant_type=client_credentials&client_id=id&client_secret=secret',
    )
    expect(exchange?.cacheKey).not.toContain('secret')
    expect(exchange?.read({ access_token: '24.abc', expires_in: 2_592_000 })).toEqual({
      token: '24.abc',
      expiresInSeconds: 2_592_000,
    })
    expect(exchange?.read({ error: 'invalid_client' })).toBeUndefined()

    const url = provider(15).url(channel(15), 'ernie.chat', 'ERNIE-4.0-8K', false)
    const signed = await provider(15).sign?.(channel(15, { key: '24.abc' }), request(url), 0)
    expect(signed?.url?.href).toBe(
      'https://aip.baidubce.com/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/completions_pro?access_token=24.abc',
    )
    expect(provider(15).headers(channel(15, { key: '24.abc' }), 'ernie.chat', {})).toEqual({})
  })
})

describe('the old type of Zhipu', () => {
  it('creates a token from its key that is valid for an hour', async () => {
    const sign = async (key: string) =>
      (await provider(16).sign?.(channel(16, { key }), request('https://z.example/'), 1000))?.headers
    const token = (await sign('id1.secret1'))?.authorization?.replace('Bearer ', '') ?? ''
    const [head = '', claims = '', signature] = token.split('.')
    const decoded = [head, claims].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
    expect(decoded).toEqual([
      { alg: 'HS256', sign_type: 'SIGN' },
      { api_key: 'id1', exp: 3_601_000, timestamp: 1000 },
    ])
    expect(signature).toBe(createHmac('sha256', 'secret1').update(`${head}.${claims}`).digest('base64url'))
    expect(await sign('plain')).toBeUndefined()
  })
})

describe('DashScope', () => {
  it('requests a stream only in its own format', async () => {
    const sign = async (path: string, accept: string) =>
      (await provider(17).sign?.(channel(17), request(`https://dashscope.aliyuncs.com${path}`, {}, { accept }), 0))?.headers
    const native = '/api/v1/services/aigc/text-generation/generation'
    expect(await sign(native, 'text/event-stream')).toEqual({ 'x-dashscope-sse': 'enable' })
    expect(await sign(native, 'application/json')).toBeUndefined()
    expect(await sign('/compatible-mode/v1/chat/completions', 'text/event-stream')).toBeUndefined()
  })
})
