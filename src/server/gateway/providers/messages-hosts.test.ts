import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../protocols/wire-format.ts'
import { acceptedBetas, withoutRefused, withoutRefusedBytes } from './messages-body.ts'
import { type MessagesHost, messagesHostOf, messagesHosts } from './messages-hosts.ts'
import { messagesHeaders } from './openai-compatible.ts'
import type { Upstream } from './provider.ts'

const channel = (type: number, baseUrl = ''): Upstream => ({
  id: 1,
  type,
  key: 'k',
  baseUrl,
  organization: '',
  other: '',
  setting: {},
})
const named = (name: string): MessagesHost =>
  messagesHosts.find((host) => host.name === name) ?? expect.unreachable(`no host ${name}`)

const model = 'claude-sonnet-4-5'
/** The text that is sent to a host, and what is reported as lost. */
function sentTo(host: MessagesHost | string, text: string, more: { model?: string; betas?: string } = {}) {
  const to = { host: typeof host === 'string' ? named(host) : host, model: more.model ?? model, betas: more.betas }
  // The texts of this test are objects.
  const json = JSON.parse(text) as JsonObject
  const bytes = Buffer.from(text)
  const raw = withoutRefusedBytes({ json, bytes }, to) ?? { json, bytes, dropped: [] }
  const written = withoutRefused(json, to)
  // A request that is written here loses the same as one that passes through.
  expect(written.dropped).toEqual(raw.dropped)
  expect({ ...json, ...written.changes }).toEqual(JSON.parse(raw.bytes.toString()))
  expect(raw.json).toEqual(JSON.parse(raw.bytes.toString()))
  return { text: raw.bytes.toString(), dropped: raw.dropped }
}

const clouds = ['Bedrock, InvokeModel', 'Bedrock, Messages endpoint', 'Vertex AI']
const vendors = ['DeepSeek', 'Kimi', 'GLM', 'MiniMax', 'Qwen', 'Grok']
const all = messagesHosts.map(({ name }) => name)

describe('the host of a channel', () => {
  it.each<[number, string, string]>([
    [14, 'https://api.anthropic.com', 'Anthropic'],
    [14, 'https://gateway.ai.cloudflare.com/v1/a/g/anthropic', 'Anthropic'],
    [14, 'https://aws-external-anthropic.us-east-1.api.aws', 'Anthropic'],
    [14, 'https://my.services.ai.azure.com/anthropic', 'Microsoft Foundry'],
    [14, 'https://bedrock-runtime.us-east-1.amazonaws.com/anthropic', 'Bedrock, Messages endpoint'],
    [14, 'https://bedrock-mantle.eu-west-1.api.aws/anthropic', 'Bedrock, Messages endpoint'],
    [14, 'https://api.deepseek.com/anthropic', 'DeepSeek'],
    [14, 'https://api.moonshot.ai/anthropic', 'Kimi'],
    [14, 'https://api.z.ai/api/anthropic', 'GLM'],
    [14, 'https://openrouter.ai/api', 'OpenRouter'],
    [14, 'http://127.0.0.1:9000', 'Unknown'],
    [14, 'https://anthropic.com.example', 'Unknown'],
    [58, 'https://API.MINIMAX.IO:443/anthropic', 'MiniMax'],
    [58, 'https://gateway.example/llm', 'Unknown'],
    [33, '', 'Bedrock, InvokeModel'],
    [33, 'https://bedrock-runtime.us-east-1.amazonaws.com', 'Bedrock, InvokeModel'],
    [41, '', 'Vertex AI'],
    [43, 'https://proxy.example', 'DeepSeek'],
    [25, 'https://api.moonshot.cn', 'Kimi'],
    [26, 'https://open.bigmodel.cn', 'GLM'],
    [35, 'https://api.minimaxi.com', 'MiniMax'],
    [48, 'https://api.x.ai', 'Grok'],
    [20, 'https://openrouter.ai/api', 'OpenRouter'],
  ])('of type %i at %s is %s', (type, address, name) => {
    expect(messagesHostOf(channel(type, address)).name).toBe(name)
  })
})

describe('a Messages request', () => {
  const plain = `{"model":"m", "max_tokens": 5,
    "system": [{"type":"text","text":"Be brief","cache_control":{"type":"ephemeral"}}],
    "messages":[{"role":"user","content":[{"type":"text","text":"a\\u0062"}]}],
    "thinking": {"type":"adaptive"}, "metadata":{"user_id":"u"}, "stream" :true}`

  it.each(all)('keeps every byte on its way to %s if all of it is accepted', (host) => {
    expect(sentTo(host, plain)).toEqual({ text: plain, dropped: [] })
  })

  it.each<[string, readonly string[]]>([
    ['service_tier', [...clouds, ...vendors]],
    ['diagnostics', [...clouds, ...vendors, 'OpenRouter']],
    ['mcp_servers', [...clouds, ...vendors, 'OpenRouter']],
    ['container', [...clouds, ...vendors, 'OpenRouter']],
    ['inference_geo', [...clouds, ...vendors, 'OpenRouter', 'Microsoft Foundry']],
    ['speed', [...clouds, ...vendors, 'Microsoft Foundry']],
    ['context_management', vendors],
    ['cache_control', [...clouds, ...vendors]],
    ['unheard_of', clouds],
  ])('[289] loses %s at the hosts that refuse it, with a receipt, and keeps it at all others', (member, refusing) => {
    const text = `{"model":"m","${member}":{"type":"ephemeral"},"messages":[]}`
    for (const host of all) {
      const isRefused = refusing.includes(host)
      expect([host, sentTo(host, text)]).toEqual([
        host,
        { text: isRefused ? '{"model":"m","messages":[]}' : text, dropped: isRefused ? [member] : [] },
      ])
    }
  })

  it('may have members and betas with names that every object inherits', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const text = `{"${name}":{"a":1},"messages":[]}`
      const to = { host: named('Bedrock, InvokeModel'), model, betas: `${name},context-1m-2025-08-07` }
      const { changes, dropped } = withoutRefused(JSON.parse(text), to)
      expect([Object.entries(changes), dropped]).toEqual([[[name, undefined]], [`anthropic-beta.${name}`, name]])
      expect(acceptedBetas(to.host, [name, 'context-1m-2025-08-07'])).toEqual(['context-1m-2025-08-07'])
    }
  })

  it('loses a member that asks for nothing without a receipt', () => {
    expect(sentTo('Vertex AI', '{"mcp_servers":[],"service_tier":null,"messages":[]}')).toEqual({
      text: '{"messages":[]}',
      dropped: [],
    })
  })

  const mark = '"cache_control":{"type":"ephemeral","scope":"global","ttl":"1h"}'
  const kept = '"cache_control":{"type":"ephemeral","ttl":"1h"}'
  const short = '"cache_control":{"type":"ephemeral"}'
  const marked = (each: string) =>
    `{"system":[{"type":"text","text":"s",${each}}],"tools":[{"name":"f",${each}}],"messages":[
      {"role":"user","content":"plain"},
      {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"x", ${each} }],${each}},
        {"type":"document","source":{"type":"content","content":[{"type":"text","text":"y",${each}}]}}]},
      {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"cache_control":{"scope":"mine"}}}]}]}`

  it.each([...clouds, ...vendors, 'OpenRouter'])(
    'loses the scope of cache marks wherever they are at %s, and only there',
    (host) => {
      expect(sentTo(host, marked(mark))).toEqual({ text: marked(kept), dropped: ['cache_control.scope'] })
    },
  )

  it.each(['Anthropic', 'Microsoft Foundry', 'Unknown'])('keeps cache marks as they are at %s', (host) => {
    expect(sentTo(host, marked(mark))).toEqual({ text: marked(mark), dropped: [] })
  })

  it.each([
    ['anthropic.claude-3-7-sonnet-20250219-v1:0', true],
    ['claude-sonnet-4@20250514', true],
    ['us.anthropic.claude-opus-4-1-20250805-v1:0', true],
    ['claude-sonnet-4-5@20250929', false],
    ['global.anthropic.claude-opus-5-5', false],
  ])('loses the ttl of cache marks at the clouds for %s: %s', (name, isOld) => {
    for (const host of clouds) {
      expect(sentTo(host, marked(kept), { model: name })).toEqual({
        text: marked(isOld ? short : kept),
        dropped: isOld ? ['cache_control.ttl'] : [],
      })
    }
    expect(sentTo('Anthropic', marked(kept), { model: name }).dropped).toEqual([])
  })

  it('loses members of tools whose beta it does not name', () => {
    const tools = (more: string) => `{"tools":[{"name":"f","input_schema":{}${more}}]}`
    const lazy = tools(',"defer_loading":true,"eager_input_streaming":true')
    const dropped = ['tools.defer_loading', 'tools.eager_input_streaming']
    for (const host of clouds) expect(sentTo(host, lazy)).toEqual({ text: tools(''), dropped })
    expect(sentTo('Bedrock, InvokeModel', lazy, { betas: 'advanced-tool-use-2025-11-20' })).toEqual({
      text: tools(',"defer_loading":true'),
      dropped: ['tools.eager_input_streaming'],
    })
    expect(sentTo('Anthropic', lazy)).toEqual({ text: lazy, dropped: [] })
  })

  it('has only the user of its metadata at Bedrock', () => {
    expect(sentTo('Bedrock, InvokeModel', '{"metadata":{"trace":1,"user_id":"u"}}')).toEqual({
      text: '{"metadata":{"user_id":"u"}}',
      dropped: ['metadata.trace'],
    })
    expect(sentTo('Bedrock, InvokeModel', '{"a_list":[],"metadata":{"trace":1}}').text).toBe('{}')
  })
})

describe("Claude Code's line about its billing", () => {
  const line = 'x-anthropic-billing-header: cc_version=2.1.38.a1; cc_entrypoint=cli; cch=00000;'
  const cases: readonly (readonly [string, string, string])[] = [
    [
      'a block of its own',
      `{"system":[{"type":"text","text":"${line}"},{"type":"text","text":"Help"}]}`,
      '{"system":[{"type":"text","text":"Help"}]}',
    ],
    ['the only block', `{"system":[{"type":"text","text":"${line}"}],"messages":[]}`, '{"messages":[]}'],
    ['the beginning of a block', `{"system":[{"text":"${line}\\nHelp"}]}`, '{"system":[{"text":"Help"}]}'],
    ['the beginning of a text', `{"system":"${line}\\n\\nHelp"}`, '{"system":"Help"}'],
    ['the whole text', `{"system":"${line}","messages":[]}`, '{"messages":[]}'],
    ['a quotation', `{"system":"Never write ${line}"}`, `{"system":"Never write ${line}"}`],
  ]

  it.each(cases)('[290] stays as %s at Anthropic alone', (_, text, without) => {
    for (const host of all)
      expect([host, sentTo(host, text)]).toEqual([host, { text: host === 'Anthropic' ? text : without, dropped: [] }])
  })
})

describe('the betas of a request', () => {
  const asked = 'context-1m-2025-08-07,files-api-2025-04-14,claude-code-20250219'
  const headerTo = (type: number, address: string, betas: string) =>
    messagesHeaders(channel(type, address), { 'anthropic-beta': betas })['anthropic-beta']

  it.each([
    ['https://api.anthropic.com', asked],
    ['http://127.0.0.1:9000', asked],
    ['https://api.deepseek.com/anthropic', asked],
    ['https://r.services.ai.azure.com/anthropic', asked],
    ['https://bedrock-mantle.us-east-1.api.aws/anthropic', 'context-1m-2025-08-07,claude-code-20250219'],
  ])('reach %s as far as it knows them', (address, known) => {
    expect(headerTo(14, address, asked)).toBe(known)
  })

  it('are no header where none remains', () => {
    expect(headerTo(14, 'https://bedrock-mantle.us-east-1.api.aws', 'files-api-2025-04-14')).toBeUndefined()
  })

  it('are reported where they are lost, unless their removal takes nothing from the request', () => {
    for (const host of clouds)
      expect(sentTo(host, '{}', { betas: asked }).dropped).toEqual(['anthropic-beta.files-api-2025-04-14'])
    expect(sentTo('Vertex AI', '{"anthropic_beta":["skills-2025-10-02"]}').dropped).toEqual(['anthropic-beta.skills-2025-10-02'])
    expect(sentTo('Microsoft Foundry', '{}', { betas: 'fast-mode-2026-02-01' }).dropped).toEqual([
      'anthropic-beta.fast-mode-2026-02-01',
    ])
    for (const host of ['Anthropic', 'Unknown', ...vendors]) expect(sentTo(host, '{}', { betas: asked }).dropped).toEqual([])
  })
})
