import { describe, expect, it } from 'vitest'
import { refusalOf, written } from '../../../../test/helpers/codecs.ts'
import type { CallerFormat } from './format.ts'
import { formats } from './index.ts'
import type { JsonObject } from './wire-format.ts'

/** A file in Google's storage, as callers of each dialect name it. */
const asked: readonly (readonly [CallerFormat, (uri: string) => JsonObject])[] = [
  ['openai.chat', (file_id) => ({ messages: [{ role: 'user', content: [{ type: 'file', file: { file_id } }] }] })],
  ['openai.chat', (url) => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] })],
  ['openai.responses', (file_id) => ({ input: [{ role: 'user', content: [{ type: 'input_file', file_id }] }] })],
  ['openai.responses', (file_id) => ({ input: [{ role: 'user', content: [{ type: 'input_image', file_id }] }] })],
  [
    'anthropic.messages',
    (file_id) => ({
      max_tokens: 5,
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id } }] }],
    }),
  ],
  ['gemini.generate', (fileUri) => ({ contents: [{ role: 'user', parts: [{ fileData: { fileUri } }] }] })],
]

function dialogueOf(from: CallerFormat, body: JsonObject) {
  const { inbound } = formats[from]
  if (!inbound) return expect.unreachable(`${from} is no conversation`)
  return inbound.readRequest({ model: 'm', ...body }, { model: 'm', stream: false })
}
const writtenTo = (to: 'gemini.generate' | 'openai.chat' | 'anthropic.messages', from: CallerFormat, body: JsonObject) => {
  const { codec } = formats[to]
  if (!codec) return expect.unreachable(`${to} is not written`)
  return written(codec, dialogueOf(from, body), { model: 'gemini-2.5-pro' }).body
}

describe("a file in Google's storage", () => {
  it.each(asked)('[294] named by a caller of %s has its type on its way to Gemini', (from, body) => {
    for (const [uri, mimeType] of [
      ['gs://bucket/a.png', 'image/png'],
      ['gs://bucket/folder/b.PDF', 'application/pdf'],
      ['gs://bucket/c.mp4', 'video/mp4'],
    ] as const) {
      expect(writtenTo('gemini.generate', from, body(uri))).toMatchObject({
        contents: [{ role: 'user', parts: [{ fileData: { mimeType, fileUri: uri } }] }],
      })
    }
  })

  it('has the usual type of its kind when its name does not tell one', () => {
    const [[, image]] = [asked[1] ?? expect.unreachable('it is there')]
    expect(writtenTo('gemini.generate', 'openai.chat', image('gs://bucket/a'))).toMatchObject({
      contents: [{ parts: [{ fileData: { mimeType: 'image/jpeg' } }] }],
    })
  })

  it('has the type that the caller declares', () => {
    const declared = {
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'gs://b/x', format: 'audio/mpeg' } }] }],
    }
    expect(writtenTo('gemini.generate', 'openai.chat', declared)).toMatchObject({
      contents: [{ parts: [{ fileData: { mimeType: 'audio/mp3', fileUri: 'gs://b/x' } }] }],
    })
    const own = { contents: [{ role: 'user', parts: [{ fileData: { fileUri: 'gs://b/x', mimeType: 'text/csv' } }] }] }
    expect(writtenTo('gemini.generate', 'gemini.generate', own)).toMatchObject({
      contents: [{ parts: [{ fileData: { mimeType: 'text/csv' } }] }],
    })
  })

  const named = asked.filter(([from, body]) => from !== 'gemini.generate' && JSON.stringify(body('gs://b')).includes('file_id'))
  it.each(named)('named by a caller of %s is refused by other vendors', (from, body) => {
    const refused = refusalOf(() => writtenTo('anthropic.messages', from, body('gs://b/a.png')))
    expect(refused?.code).toBe('untranslatable')
  })
})
