import { describe, expect, it } from 'vitest'
import { noUsage } from '../../../../contract/usage.ts'
import { readEvent, readSession, withSessionModel } from './events.ts'
import { SessionMeter } from './meter.ts'
import { readRealtimeUsage } from './usage.ts'

const seconds = (count: number, perSecond = 48_000) => Buffer.alloc(count * perSecond).toString('base64')

describe('usage of a realtime response', () => {
  it('is read into disjoint buckets, without the cached tokens of each kind', () => {
    const usage = {
      total_tokens: 253,
      input_tokens: 132,
      output_tokens: 121,
      input_token_details: {
        text_tokens: 60,
        audio_tokens: 60,
        image_tokens: 12,
        cached_tokens: 50,
        cached_tokens_details: { text_tokens: 30, audio_tokens: 20 },
      },
      output_token_details: { text_tokens: 30, audio_tokens: 91 },
    }
    const read = readRealtimeUsage({ usage })
    expect(read).toEqual({
      ...{ ...noUsage, input: 30, cacheRead: 30, cachedAudio: 20, audioInput: 40, imageInput: 12 },
      ...{ output: 30, audioOutput: 91 },
    })
  })

  it('never adds up to more than the totals, and is undefined when a number is invalid', () => {
    const lying = {
      input_tokens: 10,
      output_tokens: 5,
      input_token_details: { audio_tokens: 99, cached_tokens: 50 },
      output_token_details: { audio_tokens: 99 },
    }
    expect(readRealtimeUsage({ usage: lying })).toEqual({ ...noUsage, cacheRead: 10, cacheExcess: 40, audioOutput: 5 })
    expect(readRealtimeUsage({ usage: { input_tokens: 4 } })).toEqual({ ...noUsage, input: 4 })
    for (const usage of [undefined, null, {}, { input_tokens: -1 }, { input_tokens: 'x', output_tokens: 2e15 }])
      expect(readRealtimeUsage({ usage })).toBeUndefined()
  })
})

describe('a realtime session', () => {
  it('is read in the published and in the beta form', () => {
    const session = {
      max_output_tokens: 700,
      output_modalities: ['text'],
      audio: { input: { transcription: { model: 'whisper-1' } } },
    }
    expect(readSession(session)).toMatchObject({ outputTokensMax: 700, transcriptionModel: 'whisper-1', isTextOnly: true })
    const beta = { max_response_output_tokens: 'inf', modalities: ['text', 'audio'], input_audio_transcription: { model: 'w' } }
    expect(readSession(beta)).toMatchObject({ outputTokensMax: undefined, transcriptionModel: 'w', isTextOnly: false })
    expect(withSessionModel({ type: 'x', session: { model: 'a', voice: 'b' } }, 'c')).toEqual({
      type: 'x',
      session: { model: 'c', voice: 'b' },
    })
    expect(readEvent('[1]')).toBeUndefined()
    expect(readEvent('{')).toBeUndefined()
  })

  it("is metered: audio input, audio output, and the upstream's report in place of both", () => {
    const meter = new SessionMeter()
    meter.said({ type: 'session.created', session: { input_audio_format: 'pcm16', output_audio_format: 'g711_ulaw' } })
    meter.heard({ type: 'input_audio_buffer.append', audio: seconds(3) })
    meter.heard({
      type: 'conversation.item.create',
      item: { content: [{ type: 'input_text', text: 'How is the harbor today?' }] },
    })
    expect(meter.context.audio).toBe(30)
    expect(meter.context.text).toBeGreaterThan(6)
    meter.said({ type: 'response.created', response: { id: 'r1' } })
    meter.said({ type: 'response.output_audio.delta', response_id: 'r1', delta: seconds(2, 8_000) })
    meter.said({ type: 'response.output_text.delta', response_id: 'r1', delta: 'Rye is higher.' })
    expect(meter.running).toEqual(['r1'])
    expect(meter.estimate('r1')).toMatchObject({ audioInput: 30, audioOutput: 40 })
    expect(meter.estimate('r1').output).toBeGreaterThan(2)
    meter.ended('r1', { ...noUsage, input: 100, audioInput: 50, output: 20, audioOutput: 200 })
    expect([meter.context, meter.running]).toEqual([{ text: 120, audio: 150 }, []])
    expect([meter.untranscribedSeconds, meter.takeSpoken('a'), meter.takeSpoken('b'), meter.untranscribedSeconds]).toEqual([
      3, 3, 0, 0,
    ])
  })

  it('is metered for any shape of events', () => {
    const meter = new SessionMeter()
    for (const type of [
      'session.created',
      'session.update',
      'response.created',
      'response.output_audio.delta',
      'conversation.item.create',
      'input_audio_buffer.append',
      'response.create',
      'x',
    ])
      for (const value of [undefined, null, 7, 'x', [], {}, [{}], { content: 7 }]) {
        const event = { type, session: value, response: value, delta: value, item: value, audio: value }
        meter.heard(event)
        meter.said(event)
      }
    expect(meter.context.text).toBeGreaterThanOrEqual(0)
  })
})
