import { describe, expect, it } from 'vitest'
import { countImage, countMedia } from './count-media.ts'
import { mediaIn } from './media-parts.ts'

const png = (width: number, height: number) => {
  const bytes = Buffer.alloc(33)
  bytes.write('\x89PNG\r\n\x1a\n', 0, 'latin1')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes.toString('base64')
}
const url = (width: number, height: number) => `data:image/png;base64,${png(width, height)}`

describe('tokens of images', () => {
  it.each([
    ['gpt-4o', [1024, 1024], '', 85 + 4 * 170],
    ['gpt-4o', [4096, 8192], 'high', 85 + 6 * 170],
    ['gpt-4o', [100, 100], 'high', 85 + 170],
    ['gpt-4o', [4096, 8192], 'low', 85],
    ['gpt-4o-mini', [1024, 1024], '', 2833 + 4 * 5667],
    ['gpt-5', [1024, 1024], '', 70 + 4 * 140],
    ['gpt-5.1-2026-01-01', [1024, 1024], '', 70 + 4 * 140],
    ['o1', [1024, 1024], '', 75 + 4 * 150],
    ['gpt-4.1-mini', [1024, 1024], '', Math.ceil(1024 * 1.62)],
    ['gpt-5-nano', [4000, 3000], '', Math.ceil(1536 * 2.46)],
    ['o4-mini', [32, 33], '', Math.ceil(2 * 1.72)],
    ['gpt-5.6', [512, 512], '', 308],
    ['gpt-6-sol', [1024, 1024], '', 1229],
    ['gpt-6-sol', [4000, 3000], 'high', 2942],
    ['gpt-6-sol', [4000, 3000], 'original', 14_100],
    ['claude-3-5-sonnet-20241022', [750, 750], '', 750],
    ['claude-sonnet-4-5', [4000, 4000], '', 1600],
    ['claude-opus-4-7', [1024, 1024], '', 1452],
    ['claude-fable-5-1', [4000, 3000], '', 4784],
    ['gemini-2.5-pro', [384, 384], '', 258],
    ['gemini-2.5-pro', [1000, 700], '', 516],
    ['gemini-3-pro', [3000, 3000], '', 1120],
    ['gemini-3-pro', [3000, 3000], 'MEDIA_RESOLUTION_LOW', 280],
    ['somebody-s-model', [1024, 1024], '', 85 + 4 * 170],
  ])('of %s by the formula of its vendor: %j %s is %d', (model, [width = 0, height = 0], detail, tokens) => {
    expect(countImage(model, { width, height }, detail)).toBe(tokens)
  })
})

describe('tokens of media in a request', () => {
  it('are found in every dialect', () => {
    const bodies = [
      { messages: [{ content: [{ type: 'image_url', image_url: { url: url(1024, 1024) } }] }] },
      { input: [{ content: [{ type: 'input_image', image_url: url(1024, 1024) }] }] },
      { input: [{ type: 'function_call_output', output: [{ type: 'input_image', image_url: url(1024, 1024) }] }] },
      {
        messages: [{ content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: png(1024, 1024) } }] }],
      },
      {
        messages: [
          { content: [{ type: 'tool_result', content: [{ type: 'image', source: { type: 'base64', data: png(1024, 1024) } }] }] },
        ],
      },
      { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: png(1024, 1024) } }] }] },
      { contents: [{ parts: [{ inline_data: { mime_type: 'image/png', data: png(1024, 1024) } }] }] },
    ]
    for (const body of bodies) {
      expect(mediaIn(body)).toHaveLength(1)
      expect(countMedia(body, { mediaParts: 1, model: 'gpt-4o' })).toBe(765)
    }
  })

  it('[271] of a large image are never counted by its bytes, whether its size can be read or not', () => {
    const unreadable = Buffer.alloc(2_600_000, 'image').toString('base64')
    const tokens = (mimeType: string, data: string, model: string) =>
      countMedia({ contents: [{ parts: [{ inlineData: { mimeType, data } }] }] }, { mediaParts: 1, model })
    for (const model of ['gemini-2.5-pro', 'gemini-3-pro']) {
      expect(tokens('image/heic', unreadable, model)).toBeLessThanOrEqual(2240)
      expect(tokens('image/png', png(1024, 1024) + unreadable, model)).toBeLessThanOrEqual(2240)
    }
  })

  it('are a flat number for media by URL, unreadable media and media that are not found', () => {
    const parts = [
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'input_image', file_id: 'file-1' },
      { type: 'image', source: { type: 'file', file_id: 'f' } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'image_url', image_url: 7 },
    ]
    expect(countMedia({ messages: [{ content: parts }] }, { mediaParts: 6, model: 'gpt-4o' })).toBe(6 * 1100)
    expect(countMedia({ messages: [{ content: parts }] }, { mediaParts: 0, model: 'gpt-4o' })).toBe(0)
  })

  it('of audio and video are counted by the second, from the headers or from the rate of raw samples', () => {
    const raw = Buffer.alloc(48_000 * 4).toString('base64')
    const audio = (format: string) => ({ messages: [{ content: [{ type: 'input_audio', input_audio: { data: raw, format } }] }] })
    expect(countMedia(audio('pcm16'), { mediaParts: 1, model: 'gpt-4o-audio-preview' })).toBe(128)
    const film = Buffer.alloc(250_000).toString('base64')
    const body = { contents: [{ parts: [{ inlineData: { mimeType: 'video/webm', data: film } }] }] }
    expect(countMedia(body, { mediaParts: 1, model: 'gemini-2.5-pro' })).toBe(580)
  })

  it('of documents are counted by the page, or by their text', () => {
    const pdf = Buffer.from('%PDF-1.7 << /Type /Pages /Count 2 >> << /Type /Page >> << /Type/Page /Parent 1 >>').toString(
      'base64',
    )
    const body = (source: object) => ({ messages: [{ content: [{ type: 'document', source }] }] })
    const facts = { mediaParts: 1, model: 'claude-sonnet-4-5' }
    expect(countMedia(body({ type: 'base64', media_type: 'application/pdf', data: pdf }), facts)).toBe(4500)
    expect(countMedia(body({ type: 'text', data: 'x'.repeat(4000) }), facts)).toBe(1000)
    expect(countMedia(body({ type: 'content', content: [{ type: 'text', text: 'x'.repeat(4000) }] }), facts)).toBeGreaterThan(
      1000,
    )
    const file = { input: [{ content: [{ type: 'input_file', file_data: `data:application/pdf;base64,${pdf}` }] }] }
    expect(countMedia(file, { mediaParts: 1, model: 'gpt-4o' })).toBe(3000)
  })

  it('are bounded for any header', () => {
    const body = { messages: [{ content: [{ type: 'image_url', image_url: { url: url(4_294_967_295, 4_294_967_295) } }] }] }
    for (const model of ['gpt-4o', 'gpt-6-sol', 'gpt-4.1-mini', 'claude-sonnet-4-5', 'claude-opus-5', 'gemini-2.5-pro', 'x'])
      expect(countMedia(body, { mediaParts: 1, model })).toBeLessThan(50_000)
  })
})
