import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../wire-format.ts'
import { readGeminiError, readGoogleDetails } from './errors.ts'
import { geminiGenerate } from './generate.ts'

const hello = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }
const read = (body: JsonObject) => geminiGenerate.readRequest(body, { model: 'gemini-x', stream: true })
const code = (expected: string, params = {}) =>
  expect.objectContaining({ code: expected, params: expect.objectContaining(params) })

describe('request facts of generateContent for the relay', () => {
  it('are in the path and in the config', () => {
    const generationConfig = { maxOutputTokens: 100, candidateCount: 3, thinkingConfig: { thinkingLevel: 'HIGH' } }
    expect(read({ ...hello, generationConfig })).toEqual({
      model: 'gemini-x',
      stream: true,
      outputTokensMax: 300,
      completions: 3,
      mediaParts: 0,
      reasoningEffort: 'high',
      wantsUsage: true,
      streamOptions: undefined,
    })
    expect(read({ ...hello, generation_config: { max_output_tokens: 7 } }).outputTokensMax).toBe(7)
    expect(read(hello)).toMatchObject({ outputTokensMax: undefined, reasoningEffort: undefined })
  })

  it('are refused when they are invalid', () => {
    expect(() => read({})).toThrow(code('field_invalid', { field: 'contents' }))
    expect(() => read({ contents: ['x'] })).toThrow(code('field_invalid', { field: 'contents' }))
    expect(() => read({ ...hello, generationConfig: { maxOutputTokens: 1e12 } })).toThrow(
      code('amount_out_of_range', { field: 'generationConfig.maxOutputTokens' }),
    )
    expect(() => geminiGenerate.readRequest(hello, { model: ' ' })).toThrow(code('model_required'))
  })

  it('include the number of media, regardless of their bytes', () => {
    const data = 'A'.repeat(10_000)
    const body = {
      systemInstruction: { parts: [{ text: 'system' }] },
      contents: [
        { parts: [{ text: 'look' }, { inlineData: { data } }, { inline_data: { data } }, { fileData: { fileUri: 'gs://x' } }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 'b' } }, thoughtSignature: data }] },
        { parts: [{ functionResponse: { name: 'f', response: { result: 'r' }, parts: [{ inlineData: { data } }] } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'f', description: 'told' }] }],
    }
    expect(read(body).mediaParts).toBe(4)
    const text = geminiGenerate.promptText(body).join(' ')
    for (const word of ['system', 'look', '"a":"b"', '"r"', 'told']) expect(text).toContain(word)
    expect(text).not.toContain('AAAA')
  })
})

describe('an error of Google', () => {
  it('has its status as a number, its reason, and the time after which to retry', () => {
    const details = [{ reason: 'RATE_LIMIT_EXCEEDED' }, { retryDelay: '11.2s' }]
    const body = { error: { code: 429, message: 'slow', status: 'RESOURCE_EXHAUSTED', details } }
    const facts = { message: 'slow', type: '', code: 'RATE_LIMIT_EXCEEDED', param: null, status: 429 }
    expect(readGeminiError(body)).toEqual({ ...facts, extra: { dialect: 'gemini', members: { details } } })
    expect(readGoogleDetails([body])).toEqual({ reason: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 12 })
    expect(readGeminiError([{ error: { code: '503', status: 'UNAVAILABLE' } }])).toMatchObject({
      code: 'UNAVAILABLE',
      status: 503,
    })
  })

  it('has no details where there are none', () => {
    for (const body of [
      undefined,
      null,
      'x',
      [],
      {},
      { error: 'x' },
      { error: { code: 200, details: [null, { retryDelay: 'x' }] } },
    ]) {
      expect(readGeminiError(body)).toMatchObject({ message: '', status: 0 })
      expect(readGoogleDetails(body)).toEqual({ reason: '', retryAfterSeconds: 0 })
    }
  })
})
