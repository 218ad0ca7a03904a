import { expect, it } from 'vitest'
import type { PriceRow } from '../../../contract/routes/pricing.ts'
import { emptyDraft, estimateUsd, readSources, writeDraft } from './media.ts'

it('sends what the form says, and nothing that it leaves open', () => {
  expect(writeDraft({ ...emptyDraft, prompt: ' a lock ' })).toEqual({ prompt: 'a lock' })
  expect(writeDraft({ ...emptyDraft, prompt: 'a lock', size: '1024x1024', count: 2, seconds: 8 })).toEqual({
    prompt: 'a lock',
    size: '1024x1024',
    n: 2,
  })
  const clip = { ...emptyDraft, kind: 'clip', prompt: 'a lock', seconds: 8, resolution: '720p', ratio: '16:9' } as const
  expect(writeDraft({ ...clip, sound: 'without', first: 'data:image/png;base64,AA' })).toEqual({
    prompt: 'a lock',
    seconds: '8',
    resolution: '720p',
    aspect_ratio: '16:9',
    generate_audio: false,
    input_reference: 'data:image/png;base64,AA',
  })
})

it('shows pictures of an answer as bytes or by address, and no other address', () => {
  expect(readSources({ data: [{ b64_json: 'AAAA' }, { url: 'https://example.com/a.png' }] })).toEqual([
    'data:image/png;base64,AAAA',
    'https://example.com/a.png',
  ])
  expect(readSources({ output_format: 'webp', data: [{ b64_json: 'AA' }] })).toEqual(['data:image/webp;base64,AA'])
  expect(readSources({ output_format: 'svg+xml";', data: [{ b64_json: 'AA' }] })).toEqual(['data:image/svgxml;base64,AA'])
  for (const body of [undefined, {}, { data: 'x' }, { data: [{}, { url: 'javascript:alert(1)' }, 7] }])
    expect(readSources(body)).toEqual([])
})

it('tells the price of clips by length, resolution and sound, and of pictures with a price per call', () => {
  const clips = {
    per: 'second',
    seconds: { usual: 5, longest: 10 },
    rates: [
      { resolution: '720p', sound: 'any', usd: 0.1 },
      { resolution: '1080p', sound: 'with', usd: 0.3 },
    ],
  }
  // Only the members that the estimate reads.
  const row = (more: object) => ({ quota_type: 1, model_price: 0.04, clips: null, ...more }) as unknown as PriceRow
  const clip = { ...emptyDraft, kind: 'clip' } as const
  expect(estimateUsd(clip, row({ clips }), 2)).toBe(1)
  expect(estimateUsd({ ...clip, seconds: 10, resolution: '1080p', sound: 'with', count: 2 }, row({ clips }), 1)).toBe(6)
  expect(estimateUsd({ ...clip, seconds: 11 }, row({ clips }), 1)).toBeUndefined()
  expect(estimateUsd({ ...emptyDraft, count: 2 }, row({}), 0.5)).toBeCloseTo(0.04, 10)
  expect(estimateUsd(emptyDraft, row({ quota_type: 0 }), 1)).toBeUndefined()
  expect(estimateUsd(emptyDraft, undefined, 1)).toBeUndefined()
})
