import { describe, expect, it } from 'vitest'
import { againOf } from './again.ts'
import { curlOfRecording } from './curl.ts'

const png = 'data:image/png;base64,AAAA'

describe('a recorded request', () => {
  it.each([
    [
      '/v1/chat/completions',
      {
        model: 'm',
        temperature: 0.5,
        max_completion_tokens: 9,
        reasoning_effort: 'low',
        tools: [{ type: 'function' }],
        messages: [
          { role: 'developer', content: 'be brief' },
          { role: 'user', content: 'one' },
          { role: 'assistant', content: null, tool_calls: [{}] },
          { role: 'tool', content: 'a result' },
          { role: 'assistant', content: 'two' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'three' },
              { type: 'image_url', image_url: { url: png } },
            ],
          },
        ],
      },
    ],
    [
      '/v1/responses?x=1',
      {
        model: 'm',
        temperature: 0.5,
        max_output_tokens: 9,
        reasoning: { effort: 'low' },
        instructions: 'be brief',
        input: [
          { role: 'user', content: 'one' },
          { type: 'function_call', name: 'f' },
          { type: 'function_call_output', output: 'a result' },
          { type: 'reasoning' },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] },
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'three' },
              { type: 'input_image', image_url: png },
            ],
          },
        ],
      },
    ],
    [
      '/v1/messages',
      {
        model: 'm',
        temperature: 0.5,
        max_tokens: 9,
        output_config: { effort: 'low' },
        system: [{ type: 'text', text: 'be brief' }],
        messages: [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: [{ type: 'tool_use' }] },
          { role: 'user', content: [{ type: 'tool_result' }] },
          { role: 'assistant', content: 'two' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'three' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            ],
          },
        ],
      },
    ],
    [
      '/v1beta/models/m:streamGenerateContent?alt=sse',
      {
        generationConfig: { temperature: 0.5, maxOutputTokens: 9, effort: 'low' },
        systemInstruction: { parts: [{ text: 'be brief' }] },
        contents: [
          { role: 'user', parts: [{ text: 'one' }] },
          { role: 'model', parts: [{ functionCall: {} }] },
          { role: 'model', parts: [{ text: 'two' }, { text: 'hidden', thought: true }] },
          { role: 'user', parts: [{ text: 'three' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
        ],
      },
    ],
  ])('becomes the same conversation from %s', (url, body) => {
    const again = againOf(url, JSON.stringify(body))
    expect(again?.conversation).toEqual({
      model: 'm',
      system: 'be brief',
      parameters: { temperature: 0.5, max_tokens: 9, reasoning_effort: 'low' },
      turns: [{ text: 'one', pictures: [], answer: 'two' }],
      question: { text: 'three', pictures: [png] },
    })
    expect(again?.leftOut).toBeGreaterThan(0)
  })

  it('becomes no conversation if it is no chat, or if it is truncated', () => {
    expect(againOf('/v1/embeddings', '{"model":"m","input":"x"}')).toBeUndefined()
    expect(againOf('/v1/chat/completions', '{"model":"m","messages":[{"role":"us')).toBeUndefined()
  })

  it('becomes a command without its key, in the same dialect and with the same body', () => {
    const body = { text: `{"a":"it's"}`, encoding: 'text' as const, bytes: 12, is_cut: false }
    const headers: [string, string][] = [
      ['host', 'old'],
      ['x-api-key', '[redacted]'],
      ['anthropic-version', '2023-06-01'],
      ['content-type', 'application/json'],
      ['cookie', '[redacted]'],
    ]
    expect(curlOfRecording({ method: 'POST', url: '/v1/messages?beta=true&key=[redacted]', headers, body }, 'https://site')).toBe(
      [
        "curl -N -X POST 'https://site/v1/messages?beta=true'",
        '  -H "x-api-key: $SLUICE_KEY"',
        "  -H 'anthropic-version: 2023-06-01'",
        "  -H 'content-type: application/json'",
        `  --data-raw '{"a":"it'\\''s"}'`,
      ].join(' \\\n'),
    )
    expect(curlOfRecording({ method: 'POST', url: '/pg/chat/completions', headers: [], body }, 'https://site')).toContain(
      `'https://site/v1/chat/completions' \\\n  -H "authorization: Bearer $SLUICE_KEY"`,
    )
  })
})
