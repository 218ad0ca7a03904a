import { describe, expect, it } from 'vitest'
import { convertOfTest, failureOf } from '../../../../../test/helpers/conversions.ts'
import { noUsage } from '../../../../contract/usage.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { UploadedFile } from '../wire-format.ts'
import { directFacts } from './direct-facts.ts'
import { openAiSpeech } from './speech.ts'
import { openAiTranscriptions } from './transcriptions.ts'
import { wavOf } from './wav.ts'

const samples = Buffer.from([1, 0, 2, 0, 3, 0])
const spoken = (more: object = {}) => ({
  candidates: [
    { content: { parts: [{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=16000', data: samples.toString('base64') } }] } },
  ],
  ...more,
})
const usageMetadata = {
  promptTokenCount: 5,
  candidatesTokenCount: 40,
  totalTokenCount: 45,
  candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 40 }],
}

describe('speech by Gemini', () => {
  const asked = (more: Record<string, unknown> = {}) => ({ model: 'asked', input: 'Hello.', voice: 'alloy', ...more })

  it('requests audio in one of its own voices', () => {
    const { bodies, lost } = convertOfTest('openai.speech', 'gemini.generate', asked({ instructions: 'Say it softly', speed: 2 }))
    expect(bodies).toEqual([
      {
        contents: [{ role: 'user', parts: [{ text: 'Say it softly:\nHello.' }] }],
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
        },
      },
    ])
    expect(lost).toEqual(['speed'])
    const own = convertOfTest('openai.speech', 'gemini.generate', asked({ voice: { id: 'Puck' } }))
    expect(JSON.stringify(own.bodies)).toContain('"voiceName":"Puck"')
  })

  it('samples become a WAV file, or stay samples for callers that requested them', () => {
    const { answer } = convertOfTest('openai.speech', 'gemini.generate', asked())
    const usage = { ...noUsage, input: 5, audioOutput: 40 }
    expect(answer(spoken({ usageMetadata }))).toEqual({
      kind: 'bytes',
      contentType: 'audio/wav',
      bytes: wavOf(samples, 16_000),
      usage,
    })
    const plain = convertOfTest('openai.speech', 'gemini.generate', asked({ response_format: 'pcm' }))
    expect(plain.answer(spoken())).toMatchObject({ contentType: 'audio/L16;rate=16000;channels=1', bytes: samples })
    const wav = wavOf(samples, 16_000)
    expect([wav.toString('latin1', 0, 4), wav.readUInt32LE(4), wav.readUInt32LE(24), wav.readUInt32LE(40)]).toEqual([
      'RIFF',
      42,
      16_000,
      6,
    ])
  })

  it('is written as a stream whose usage the speech format can read', () => {
    const { answer } = convertOfTest('openai.speech', 'gemini.generate', asked({ stream_format: 'sse' }), { stream: true })
    const told = answer(spoken({ usageMetadata }))
    const events = told.kind === 'events' ? eventsIn(told.text).map(({ data }) => JSON.parse(data)) : []
    expect(events).toEqual([
      { type: 'speech.audio.delta', audio: wavOf(samples, 16_000).toString('base64') },
      { type: 'speech.audio.done', usage: { input_tokens: 5, output_tokens: 40, total_tokens: 45 } },
    ])
    expect(openAiSpeech.stream?.readUsage(events[1], undefined)).toEqual({ ...noUsage, input: 5, audioOutput: 40 })
  })

  it('formats that would have to be encoded are refused, with the field name', () => {
    for (const response_format of ['mp3', 'opus', 'aac', 'flac'])
      expect(failureOf(() => convertOfTest('openai.speech', 'gemini.generate', asked({ response_format })))).toMatchObject({
        code: 'untranslatable',
        params: { field: 'response_format' },
      })
  })

  it('a reply without audio is refused', () => {
    const { answer } = convertOfTest('openai.speech', 'gemini.generate', asked())
    for (const odd of [{}, { candidates: [null, {}, { content: { parts: [{ text: 'no' }, null] } }] }])
      expect(answer(odd).kind).toBe('refused')
  })
})

describe('speech by MiniMax', () => {
  const asked = (more: Record<string, unknown> = {}) => ({ model: 'asked', input: 'Hello.', voice: 'Wise_Woman', ...more })

  it('is decoded from hexadecimal digits in JSON and sent as a file', () => {
    const { bodies, answer, lost } = convertOfTest('openai.speech', 'minimax.speech', asked({ speed: 4, instructions: 'softly' }))
    expect(bodies).toEqual([
      {
        model: 'theirs',
        text: 'Hello.',
        stream: false,
        output_format: 'hex',
        voice_setting: { voice_id: 'Wise_Woman', speed: 2 },
        audio_setting: { format: 'mp3' },
      },
    ])
    expect(lost).toEqual(['instructions'])
    expect(answer({ data: { audio: samples.toString('hex'), status: 2 } })).toEqual({
      kind: 'bytes',
      contentType: 'audio/mpeg',
      bytes: samples,
      usage: undefined,
    })
    for (const odd of [{}, { data: { audio: '' } }, { data: { audio: 'zz' } }]) expect(answer(odd).kind).toBe('refused')
  })

  it('raw samples have the rate that callers expect, 24 kHz', () => {
    const { bodies } = convertOfTest('openai.speech', 'minimax.speech', asked({ response_format: 'pcm' }))
    expect(bodies[0]).toMatchObject({ audio_setting: { format: 'pcm', sample_rate: 24_000 } })
  })

  it('unsupported formats and streams are refused, with the field name', () => {
    for (const [more, field] of [
      [{ response_format: 'opus' }, 'response_format'],
      [{ stream_format: 'sse' }, 'stream_format'],
    ] as const)
      expect(
        failureOf(() => convertOfTest('openai.speech', 'minimax.speech', asked(more), { stream: field === 'stream_format' })),
      ).toMatchObject({ code: 'untranslatable', params: { field } })
  })
})

describe('transcriptions by Gemini', () => {
  const file: UploadedFile = {
    field: 'file',
    name: 'talk.m4a',
    mediaType: 'application/octet-stream',
    bytes: Buffer.from('sound'),
  }
  const asked = (more: Record<string, unknown> = {}) => ({ model: 'asked', ...more })
  const heard = { inlineData: { mimeType: 'audio/mp4', data: file.bytes.toString('base64') } }

  it('[275] transcription models get only the audio, and answer in parts of their own type', () => {
    const { bodies, read } = convertOfTest('openai.transcriptions', 'gemini.generate', asked(), {
      files: [file],
      upstreamModel: 'gemini-3-transcribe',
    })
    expect(bodies).toEqual([{ contents: [{ role: 'user', parts: [heard] }] }])
    const parts = [{ audioTranscription: { text: 'High ' } }, { audioTranscription: { text: 'tide' } }]
    const reply = read({
      candidates: [{ content: { parts } }],
      usageMetadata: {
        promptTokenCount: 40,
        candidatesTokenCount: 3,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 38 }],
      },
    })
    expect(reply).toEqual({
      text: 'High tide',
      usage: {
        type: 'tokens',
        input_tokens: 40,
        input_token_details: { text_tokens: 2, audio_tokens: 38 },
        output_tokens: 3,
        total_tokens: 43,
      },
    })
    expect(openAiTranscriptions.readUsage(reply, directFacts('m'))).toEqual({
      ...noUsage,
      input: 2,
      audioInput: 38,
      output: 3,
    })
  })

  it('other models get a text instruction, and their reasoning is left out', () => {
    const more = asked({ language: 'de', prompt: 'Deich', temperature: '0' })
    const { bodies, answer } = convertOfTest('openai.transcriptions', 'gemini.generate', more, { files: [file] })
    expect(bodies).toEqual([
      {
        contents: [{ role: 'user', parts: [heard, { text: expect.stringMatching(/word for word[\s\S]*"de"[\s\S]*Deich/) }] }],
        generationConfig: { temperature: 0 },
      },
    ])
    const parts = [{ text: 'Hmm.', thought: true }, { text: 'High tide' }]
    expect(answer({ candidates: [{ content: { parts } }] })).toEqual({ kind: 'json', body: { text: 'High tide' } })
    const translated = convertOfTest('openai.translations', 'gemini.generate', asked(), { files: [file] })
    expect(JSON.stringify(translated.bodies)).toContain('in English')
  })

  it('the format text returns plain text', () => {
    const { answer } = convertOfTest('openai.transcriptions', 'gemini.generate', asked({ response_format: 'text' }), {
      files: [file],
    })
    expect(answer({ candidates: [{ content: { parts: [{ text: 'High tide' }] } }] })).toMatchObject({
      kind: 'text',
      text: 'High tide\n',
    })
  })

  it('formats with timestamps are refused, with the field name', () => {
    for (const response_format of ['srt', 'vtt', 'verbose_json', 'diarized_json'])
      expect(
        failureOf(() => convertOfTest('openai.transcriptions', 'gemini.generate', asked({ response_format }), { files: [file] })),
      ).toMatchObject({ code: 'untranslatable', params: { field: 'response_format' } })
  })

  it('a reply without candidates is refused', () => {
    const { answer } = convertOfTest('openai.transcriptions', 'gemini.generate', asked(), { files: [file] })
    expect([answer({}), answer({ promptFeedback: { blockReason: 'SAFETY' } })]).toMatchObject([
      { error: { status: 0 } },
      { error: { status: 400 } },
    ])
  })
})

describe('transcriptions by Cloudflare', () => {
  const file: UploadedFile = { field: 'file', name: 'talk.wav', mediaType: 'audio/wav', bytes: wavOf(samples, 8000) }
  const turbo = '@cf/openai/whisper-large-v3-turbo'

  it('older models get only the bytes, the newer one JSON', () => {
    const old = convertOfTest(
      'openai.transcriptions',
      'cloudflare.run',
      { model: 'asked' },
      { files: [file], upstreamModel: '@cf/openai/whisper' },
    )
    expect(old.plan.requests).toEqual([{ bytes: file.bytes, contentType: 'audio/wav' }])
    const { bodies, read } = convertOfTest(
      'openai.translations',
      'cloudflare.run',
      { model: 'asked', prompt: 'p' },
      { files: [file], upstreamModel: turbo },
    )
    expect(bodies).toEqual([{ audio: file.bytes.toString('base64'), task: 'translate', initial_prompt: 'p' }])
    expect(read({ success: true, result: { text: 'High tide', transcription_info: { duration: 12.4 } } })).toEqual({
      text: 'High tide',
      usage: { type: 'duration', seconds: 12.4 },
    })
  })

  it('subtitles are supported only as vtt', () => {
    const vtt = convertOfTest(
      'openai.transcriptions',
      'cloudflare.run',
      { model: 'a', response_format: 'vtt' },
      { files: [file], upstreamModel: turbo },
    )
    expect(vtt.answer({ result: { text: 'x', vtt: 'WEBVTT' } })).toMatchObject({ kind: 'text', text: 'WEBVTT' })
    expect(vtt.answer({ result: {} }).kind).toBe('refused')
    for (const more of [{ response_format: 'srt' }, { response_format: 'verbose_json' }])
      expect(
        failureOf(() => convertOfTest('openai.transcriptions', 'cloudflare.run', { model: 'a', ...more }, { files: [file] })),
      ).toMatchObject({
        code: 'untranslatable',
      })
  })
})
