import { describe, expect, it } from 'vitest'
import { itWrites, reading, written } from '../../../../../test/helpers/codecs.ts'
import { assistant, image, text, tideTool, user } from '../../../../../test/helpers/dialogue.ts'
import type { Codec } from '../codec.ts'
import { replicatePredictFormat } from './format.ts'

const replicatePredict: Codec = replicatePredictFormat.codec

const prediction = {
  id: 'p',
  status: 'succeeded',
  error: null,
  metrics: { predict_time: 1.5, input_token_count: 9, output_token_count: 4 },
}
const { whole: read } = reading(replicatePredict)

describe('a prediction of Replicate', () => {
  it('has the text of its output, also if that is no list', () => {
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
  const given = { sampling: { temperature: 1, topP: 0.9, topK: 5 }, outputTokensMax: 50, stop: ['A', 'B'] }
  const seen = { turns: [user('See', image())] }
  const claude = 'anthropic/claude-4.5-haiku'

  itWrites(replicatePredict, {
    'has the inputs that the model supports, and reports the others as lost': [
      {
        asks: given,
        model: 'meta/meta-llama-3-70b-instruct',
        has: { input: { prompt: 'Hello', max_tokens: 50, temperature: 1, top_p: 0.9, top_k: 5, stop_sequences: 'A,B' } },
        lost: [],
      },
      {
        asks: given,
        model: claude,
        body: { input: { prompt: 'Hello', max_tokens: 1024 } },
        lost: ['max_tokens', 'stop', 'temperature', 'top_k', 'top_p'],
      },
      { asks: given, model: 'openai/gpt-5', has: { input: { max_completion_tokens: 50 } } },
    ],
    'has one prompt that contains the roles, and separate instructions': {
      asks: { system: [text('Be brief')], turns: [user('Hi'), assistant('Hello.'), user('Well?')] },
      body: { input: { system_prompt: 'Be brief', prompt: 'User: Hi\n\nAssistant: Hello.\n\nUser: Well?' } },
    },
    'contains the version of a community model': { model: 'someone/model:abc123', has: { version: 'abc123' } },
    'contains images if the model supports them': [
      { asks: seen, model: 'google/gemini-3-pro', has: { input: { images: ['https://a.example/b.png'] } } },
      { asks: seen, model: claude, has: { input: { image: 'https://a.example/b.png' } } },
    ],
    'is refused for a forced tool, and reports other tools as lost': [
      { asks: { tools: [tideTool], toolChoice: { kind: 'required' } }, refused: 'no tools' },
      { asks: { tools: [tideTool] }, lost: ['tools'] },
    ],
  })

  it('requires a non-streamed reply, even when the caller requested a stream', () => {
    expect(written(replicatePredict, { stream: true })).toMatchObject({ isWhole: true })
  })
})
