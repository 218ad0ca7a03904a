import { createHash, createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { awsException } from '../../../../test/helpers/aws-event-stream.ts'
import { readSse, summary } from '../../../../test/helpers/codecs.ts'
import { openFraming } from '../../base/lib/bytes/frames.ts'
import { anthropicMessagesFormat } from '../protocols/anthropic-messages/format.ts'
import type { Format } from '../protocols/format.ts'
import { adjustRequest } from './adjust-request.ts'
import { signForAws } from './aws-signature.ts'
import { bedrock } from './bedrock.ts'
import type { Upstream } from './provider.ts'

const anthropicMessagesCodec = anthropicMessagesFormat.codec
const messages = 'anthropic.messages'
const converse = 'bedrock.converse'
const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const nowMs = Date.UTC(2026, 10, 20, 12, 34, 56, 789)

const channel = (key = `AKIDEXAMPLE|${secret}|us-east-1`, baseUrl = ''): Upstream => ({
  id: 1,
  type: 33,
  key,
  baseUrl,
  organization: '',
  other: '',
  setting: {},
})
const url = (format: Format, model: string, stream = false, given = channel()) => bedrock.url(given, format, model, stream)

describe('the address of a call to Bedrock', () => {
  const host = 'https://bedrock-runtime.us-east-1.amazonaws.com/model'

  it.each<[Format, boolean, string]>([
    [messages, false, 'invoke'],
    [messages, true, 'invoke-with-response-stream'],
    [converse, false, 'converse'],
    [converse, true, 'converse-stream'],
  ])('for %s with stream %s ends in %s', (format, stream, call) => {
    expect(url(format, 'us.anthropic.claude-sonnet-4-6', stream)).toBe(`${host}/us.anthropic.claude-sonnet-4-6/${call}`)
  })

  it.each([
    ['claude-instant-1.2', 'anthropic.claude-instant-v1'],
    ['claude-2.0', 'anthropic.claude-v2'],
    ['claude-2.1', 'anthropic.claude-v2%3A1'],
    ['claude-3-sonnet-20240229', 'anthropic.claude-3-sonnet-20240229-v1%3A0'],
    ['claude-3-opus-20240229', 'anthropic.claude-3-opus-20240229-v1%3A0'],
    ['claude-3-haiku-20240307', 'anthropic.claude-3-haiku-20240307-v1%3A0'],
    ['claude-3-5-sonnet-20240620', 'anthropic.claude-3-5-sonnet-20240620-v1%3A0'],
    ['claude-3-5-sonnet-20241022', 'anthropic.claude-3-5-sonnet-20241022-v2%3A0'],
    ['claude-3-5-haiku-20241022', 'anthropic.claude-3-5-haiku-20241022-v1%3A0'],
    ['claude-3-7-sonnet-20250219', 'anthropic.claude-3-7-sonnet-20250219-v1%3A0'],
    ['claude-3-7-sonnet-20250219-thinking', 'anthropic.claude-3-7-sonnet-20250219-v1%3A0'],
    ['eu.anthropic.claude-opus-4-5-20251101-v1:0', 'eu.anthropic.claude-opus-4-5-20251101-v1%3A0'],
    ['amazon.nova-pro-v1:0', 'amazon.nova-pro-v1%3A0'],
    ['moonshot.kimi-k2-thinking', 'moonshot.kimi-k2-thinking'],
    [
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-6',
      'arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.anthropic.claude-sonnet-4-6',
    ],
  ])('contains %s as %s', (model, id) => {
    expect(url(converse, model)).toBe(`${host}/${id}/converse`)
  })

  it('is in the region of the key, or is that of the channel', () => {
    const of = (key: string, base = '') => new URL(url(converse, 'm', false, channel(key, base))).host
    expect(of('ak|sk|eu-central-1')).toBe('bedrock-runtime.eu-central-1.amazonaws.com')
    expect(of('ak|sk|token|eu-central-1')).toBe('bedrock-runtime.eu-central-1.amazonaws.com')
    expect(of('ABSK…|us-west-2')).toBe('bedrock-runtime.us-west-2.amazonaws.com')
    expect(of('ak|sk|cn-north-1')).toBe('bedrock-runtime.cn-north-1.amazonaws.com.cn')
    expect(of('ak|sk|us-east-1', 'https://vpce-1.example')).toBe('vpce-1.example')
  })

  it.each(['', 'secret', 'ak|sk|', '|sk|us-east-1', 'ak|sk|evil.example/#', 'a|b|c|d|us-east-1', 'ak|sk|US East'])(
    'is refused for the key %j, which the error does not contain',
    (key) => {
      const call = () => url(converse, 'm', false, channel(key))
      expect(call).toThrow(expect.objectContaining({ code: 'upstream_failed' }))
      expect(call).toThrow(/^The upstream failed: the key of the channel must read Ak\|Sk\|Region or ApiKey\|Region$/)
    },
  )
})

describe('the formats on Bedrock', () => {
  it.each([
    ['claude-3-opus-20240229', true],
    ['anthropic.claude-v2:1', true],
    ['global.anthropic.claude-sonnet-5-5', true],
    ['arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-6', true],
    ['amazon.nova-lite-v1:0', false],
    ['openai.gpt-oss-120b-1:0', false],
    ['arn:aws:bedrock:us-east-1:1:application-inference-profile/abc', false],
  ])('%s: Messages %s, Converse always', (model, speaksMessages) => {
    expect(bedrock.speaksWith?.(messages, model)).toBe(speaksMessages)
    expect(bedrock.speaksWith?.(converse, model)).toBe(true)
  })

  it('frames streams as AWS event streams', () => {
    expect(bedrock.framing?.(converse, true)).toBe('aws-event-stream')
    expect(bedrock.framing?.(messages, false)).toBe('sse')
  })
})

describe('Messages by InvokeModel', () => {
  const adjust = (body: Record<string, unknown>, beta?: string) =>
    adjustRequest(
      { type: 33, provider: bedrock, baseUrl: '', setting: {} },
      { body, format: messages, model: 'anthropic.claude-sonnet-4-6', caller: { 'anthropic-beta': beta } },
    )

  it('have their version, but no model, no stream and no members that Bedrock refuses', () => {
    const kept = {
      messages: [],
      max_tokens: 1,
      system: '',
      tools: [],
      tool_choice: {},
      thinking: {},
      output_config: {},
      top_k: 1,
    }
    const refused = { service_tier: 'auto', container: 'c', speed: 'fast', mcp_servers: [], cache_control: {}, unheard_of: 1 }
    const body = { ...kept, ...refused, model: 'm', stream: true, metadata: { user_id: 'u', trace: 1 } }
    expect({ ...body, ...adjust(body) }).toEqual({
      ...kept,
      anthropic_version: 'bedrock-2023-05-31',
      metadata: { user_id: 'u' },
    })
    expect(adjust({ metadata: { trace: 1 } })).toMatchObject({ metadata: undefined })
  })

  it('have the betas of the header in the body', () => {
    const [one, two] = ['context-1m-2025-08-07', 'effort-2025-11-24']
    expect(adjust({}, `${one}, ${two},,`)).toMatchObject({ anthropic_beta: [one, two] })
    expect(adjust({ anthropic_beta: [two, one] }, one)).toMatchObject({ anthropic_beta: [two, one] })
    expect(adjust({})).toMatchObject({ anthropic_beta: undefined })
    expect(bedrock.headers(channel(), messages, { 'anthropic-beta': 'a', 'anthropic-version': '2023-06-01' })).toEqual({})
  })

  it.each([
    ['anthropic.claude-3-7-sonnet-20250219-v1:0', '2026-10-21', 'bedrock-2023-05-31'],
    ['us.anthropic.claude-opus-4-6-v1:0', '2026-10-21', 'bedrock-2023-05-31'],
    ['global.anthropic.claude-sonnet-4-6', '2026-10-21', 'bedrock-2023-05-31'],
    ['anthropic.claude-opus-4-7', '2026-10-21', '2026-10-21'],
    ['global.anthropic.claude-sonnet-5-5', '2026-10-21', '2026-10-21'],
    ['global.anthropic.claude-sonnet-5-5', '2023-06-01', 'bedrock-2023-05-31'],
    ['global.anthropic.claude-sonnet-5-5', undefined, 'bedrock-2023-05-31'],
    ['global.anthropic.claude-sonnet-5-5', 'latest', 'bedrock-2023-05-31'],
  ])('[127] have for %s, asked for under %s, the version %s', (model, asked, version) => {
    const sent = { anthropic_version: version }
    expect(bedrock.adjustBody?.({}, messages, model, { 'anthropic-version': asked })).toMatchObject(sent)
    // The SDKs for clouds have it in the body.
    expect(bedrock.adjustBody?.({ anthropic_version: asked }, messages, model)).toMatchObject(sent)
  })

  const read = (bytes: Buffer) => {
    const events = openFraming(bedrock.framing?.(messages, true) ?? 'sse').push(bytes)
    return summary(readSse(anthropicMessagesCodec, Buffer.from(events, 'latin1').toString()))
  }

  it('are read from the AWS event stream like other Messages streams', () => {
    const fixture = new URL('../protocols/bedrock-converse/fixtures/invoke_anthropic_text.bin', import.meta.url)
    expect(read(readFileSync(fixture))).toMatchObject({
      blocks: [{ block: 'text', text: 'The harbor is calm.' }],
      usage: { input: 20, output: 9 },
      finish: 'stop',
      isComplete: true,
    })
  })

  it('[251] end with an error that has the status of the exception', () => {
    const { error } = read(awsException('throttlingException', { message: 'Too many requests' }))
    expect(error).toMatchObject({ type: 'throttlingException', message: 'Too many requests', status: 429 })
  })

  it('leave requests of Converse unchanged', () => {
    expect(bedrock.adjustBody?.({ messages: [], inferenceConfig: {} }, converse, 'm')).toEqual({})
  })
})

describe('a signature for AWS', () => {
  it('equals the one in the documentation', async () => {
    const headers = await signForAws(
      {
        method: 'GET',
        url: new URL('https://examplebucket.s3.amazonaws.com/?lifecycle'),
        headers: {},
        body: Buffer.alloc(0),
      },
      {
        accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
        secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        sessionToken: undefined,
        region: 'us-east-1',
      },
      { service: 's3', nowMs: Date.UTC(2013, 4, 24) },
    )
    expect(headers).toEqual({
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
        'SignedHeaders=host;x-amz-content-sha256;x-amz-date, ' +
        'Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'x-amz-date': '20130524T000000Z',
    })
  })

  it.each([
    ['lasting credentials', `AKIDEXAMPLE|${secret}|us-east-1`, undefined],
    ['temporary credentials', `AKIDEXAMPLE|${secret}|session+token/==|us-east-1`, 'session+token/=='],
  ])('covers path, body and time of a call with %s', async (_name, key, token) => {
    const body = Buffer.from('{"messages":[{"role":"user","content":[{"text":"中"}]}]}')
    const address = new URL(url(converse, 'amazon.nova-pro-v1:0', true))
    const signed = await bedrock.sign?.(channel(key), { method: 'POST', url: address, headers: { accept: '*/*' }, body }, nowMs)
    const hash = createHash('sha256').update(body).digest('hex')
    const headers = {
      host: 'bedrock-runtime.us-east-1.amazonaws.com',
      'x-amz-content-sha256': hash,
      'x-amz-date': '20261120T123456Z',
      ...(token === undefined ? {} : { 'x-amz-security-token': token }),
    }
    const { host: _host, ...sent } = headers
    // The path is percent-encoded twice in the signed text.
    const path = '/model/amazon.nova-pro-v1%253A0/converse-stream'
    const authorization = authorizationFor({ method: 'POST', path, query: '', headers, hash }, 'us-east-1', 'bedrock')
    expect(signed).toEqual({ headers: { ...sent, authorization } })
  })

  it('is tested with a second implementation, which reproduces the documented example', () => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      host: 'iam.amazonaws.com',
      'x-amz-date': '20150830T123600Z',
    }
    const hash = createHash('sha256').update('').digest('hex')
    const request = { method: 'GET', path: '/', query: 'Action=ListUsers&Version=2010-05-08', headers, hash }
    expect(authorizationFor(request, 'us-east-1', 'iam')).toContain(
      'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
    )
  })

  it('is absent for an API key of Bedrock, which is a bearer token', async () => {
    const given = channel('bedrock-api-key-YWJj=|us-east-1')
    const request = { method: 'POST' as const, url: new URL('https://h/'), headers: {}, body: Buffer.alloc(0) }
    expect(await bedrock.sign?.(given, request, nowMs)).toEqual({})
    expect(bedrock.headers(given, converse, {})).toEqual({ authorization: 'Bearer bedrock-api-key-YWJj=' })
    expect(bedrock.headers(channel(), converse, {})).toEqual({})
  })
})

interface Canonical {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly hash: string
}

/** Signature Version 4 as the documentation describes it, with the credentials of its examples. */
function authorizationFor({ method, path, query, headers, hash }: Canonical, region: string, service: string): string {
  const names = Object.keys(headers).sort()
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join('')
  const canonical = [method, path, query, lines, names.join(';'), hash].join('\n')
  const time = headers['x-amz-date'] ?? ''
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n')
  const key = scope.split('/').reduce<string | Buffer>((kept, part) => hmac(kept, part), `AWS4${secret}`)
  const signature = hmac(key, toSign).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
