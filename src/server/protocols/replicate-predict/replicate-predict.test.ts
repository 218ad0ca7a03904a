import { describe, expect, it } from 'vitest'
import { assistantTurn, readContext, summary, tideTool, userTurn, written } from '../../../../test/helpers/codecs.ts'
import type { Codec } from '../codec.ts'
import type { MediaPart } from '../dialogue.ts'
import { replicatePredictFormat } from './format.ts'

const replicatePredict: Codec = replicatePredictFormat.codec
const prediction = {
  id: 'p',
  status: 'succeeded',
  output: ['The harbor', ' is calm.'],
  error: null,
  metrics: { predict_time: 1.5, input_token_count: 9, output_token_count: 4 },
}
const read = (reply: object) => summary(replicatePredict.readReply({ ...reply }, readContext()))

describe('a prediction of Replicate', () => {
  it('has the text of its joined pieces', () => {
    expect(read(prediction)).toMatchObject({
      blocks: [{ block: 'text', text: 'The harbor is calm.' }],
      usage: { input: 9, output: 4 },
      finish: 'stop',
      isComplete: true,
    })
    expect(read({ ...prediction, output: 'At once.' }).blocks).toEqual([{ block: 'text', text: 'At once.' }])
  })

  it.each([
    [{ status: 'failed', error: 'out of memory' }, 'out of memory', 0],
    [{ status: 'canceled' }, 'the upstream sent no valid answer', 0],
    [{ status: 'processing', output: null }, 'the prediction took longer than the upstream waits for it', 504],
    [{ detail: 'no such model' }, 'no such model', 0],
  ])('is an error when it is %o', (reply, message, status) => {
    expect(read(reply).error).toMatchObject({ message, status })
  })
})

describe('a request to Replicate', () => {
  it('has the inputs that the model supports, and reports the others as lost', () => {
    const given = { sampling: { temperature: 1, topP: 0.9, topK: 5 }, outputTokensMax: 50, stop: ['A', 'B'] }
    expect(written(replicatePredict, given, { model: 'meta/meta-llama-3-70b-instruct' })).toMatchObject({
      body: { input: { prompt: 'Hello', max_tokens: 50, temperature: 1, top_p: 0.9, top_k: 5, stop_sequences: 'A,B' } },
      lost: [],
    })
    const claude = written(replicatePredict, given, { model: 'anthropic/claude-4.5-haiku' })
    expect(claude.body).toEqual({ input: { prompt: 'Hello', max_tokens: 1024 } })
    expect(claude.lost).toEqual(['max_tokens', 'stop', 'temperature', 'top_k', 'top_p'])
    expect(written(replicatePredict, given, { model: 'openai/gpt-5' }).body).toMatchObject({
      input: { max_completion_tokens: 50 },
    })
  })

  it('has one prompt that contains the roles, and separate instructions', () => {
    const { body } = written(replicatePredict, {
      system: [{ kind: 'text', text: 'Be brief' }],
      turns: [userTurn('Hi'), assistantTurn('Hello.'), userTurn('Well?')],
    })
    expect(body).toEqual({
      input: { system_prompt: 'Be brief', prompt: 'User: Hi\n\nAssistant: Hello.\n\nUser: Well?' },
    })
  })

  it('requires a non-streamed reply, even when the caller requested a stream', () => {
    expect(written(replicatePredict, { stream: true })).toMatchObject({ isWhole: true })
  })

  it('contains the version of a community model', () => {
    expect(written(replicatePredict, {}, { model: 'someone/model:abc123' }).body).toMatchObject({ version: 'abc123' })
  })

  it('contains images if the model supports them, and is refused otherwise', () => {
    const image: MediaPart = { kind: 'media', media: 'image', source: { kind: 'url', url: 'https://a.example/b.png' } }
    const turns = [{ role: 'user' as const, parts: [{ kind: 'text' as const, text: 'See' }, image] }]
    expect(written(replicatePredict, { turns }, { model: 'google/gemini-3-pro' }).body).toMatchObject({
      input: { images: ['https://a.example/b.png'] },
    })
    expect(written(replicatePredict, { turns }, { model: 'anthropic/claude-4.5-haiku' }).body).toMatchObject({
      input: { image: 'https://a.example/b.png' },
    })
    expect(() => written(replicatePredict, { turns }, { model: 'meta/meta-llama-3-70b-instruct' })).toThrow('takes no image')
  })

  it('is refused for a forced tool, and reports other tools as lost', () => {
    expect(() => written(replicatePredict, { tools: [tideTool], toolChoice: { kind: 'required' } })).toThrow('no tools')
    expect(written(replicatePredict, { tools: [tideTool] }).lost).toEqual(['tools'])
  })
})
