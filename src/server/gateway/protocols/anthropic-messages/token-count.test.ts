import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { anthropicCountTokens, countableText, writeTokenCount } from './token-count.ts'

const tool = { name: 'get_tide', description: 'Tide of a port', input_schema: { type: 'object', properties: { port: {} } } }

describe('the text of a count', () => {
  it("[147] includes instructions, messages, tools and the answer's schema, and counts images", () => {
    const { texts, mediaParts, tokensBeside } = countableText({
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'image', source: { type: 'base64', data: 'AAAA' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'secret', signature: 'c2ln' },
            { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'high' }] }] },
      ],
      tools: [tool],
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
    })
    expect(texts).toEqual([
      'Be brief.',
      'Hi',
      'f',
      '{"a":1}',
      'high',
      'get_tide',
      'Tide of a port',
      '{"type":"object","properties":{"port":{}}}',
      '{"type":"object"}',
    ])
    expect(mediaParts).toBe(1)
    expect(tokensBeside).toBe(3 * 3 + 346 + 8)
  })

  it('includes the text of documents, and counts other documents as media', () => {
    const document = (source: object) => ({ type: 'document', title: 'T', source })
    const content = [
      document({ type: 'text', data: 'abc' }),
      document({ type: 'content', content: 'def' }),
      document({ type: 'url', url: 'x' }),
    ]
    expect(countableText({ messages: [{ role: 'user', content }] })).toMatchObject({
      texts: ['T', 'abc', 'T', 'def', 'T'],
      mediaParts: 1,
    })
  })

  it('is read from any input without an error', () => {
    for (const odd of [null, 7, 'x', [], [null], {}, [[]]]) {
      expect(() => countableText({ system: odd, messages: [{ content: odd }], tools: odd, output_config: odd })).not.toThrow()
    }
  })
})

describe('a token count request', () => {
  it('needs no output limit, is not streamed and is free', () => {
    const facts = anthropicCountTokens.readRequest({ model: 'claude-opus-5', messages: [{ role: 'user', content: 'Hi' }] })
    expect(facts).toMatchObject({ model: 'claude-opus-5', stream: false, outputTokensMax: undefined, mediaParts: 0 })
    expect(anthropicCountTokens).toMatchObject({ isFree: true, stream: null })
    expect(() => anthropicCountTokens.readRequest({ model: 'm', messages: [] })).toThrow('messages')
  })

  it('returns one integer', () => {
    const told: unknown = JSON.parse(readFileSync(new URL('fixtures/count_tokens.json', import.meta.url), 'utf8'))
    expect(Object.keys(writeTokenCount(1))).toEqual(Object.keys(Object(told)))
    expect([writeTokenCount(11.6), writeTokenCount(-1)]).toEqual([{ input_tokens: 12 }, { input_tokens: 0 }])
  })
})
