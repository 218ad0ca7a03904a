import { describe, expect, it } from 'vitest'
import { readContext, summary, written } from '../../../../../test/helpers/codecs.ts'
import { assistant, text, user } from '../../../../../test/helpers/dialogue.ts'
import type { Codec } from '../codec.ts'
import { palmMessageFormat } from './format.ts'

const palmMessage: Codec = palmMessageFormat.codec

const read = (answer: object) => summary(palmMessage.readReply({ ...answer }, readContext()))

describe('a reply of PaLM', () => {
  it('finishes with content-filter when it was filtered, and is an error when PaLM reports one', () => {
    expect(read({ filters: [{ reason: 'SAFETY' }] })).toMatchObject({ blocks: [], finish: 'content-filter' })
    const error = { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' }
    expect(read({ error }).error).toMatchObject({ status: 429, code: 'RESOURCE_EXHAUSTED', message: 'slow down' })
    expect(read({}).error).toMatchObject({ message: 'the upstream gave no candidate' })
  })
})

describe('a request to PaLM', () => {
  it('has separate instructions, two alternating authors, and values within their ranges', () => {
    const { body, lost } = written(palmMessage, {
      system: [text('Be brief')],
      turns: [assistant('Welcome.'), user('Hi')],
      sampling: { temperature: 1.8, topP: 0.5, topK: 3 },
      stop: ['END'],
    })
    expect(body).toEqual({
      prompt: {
        context: 'Be brief',
        messages: [
          { author: '0', content: '.' },
          { author: '1', content: 'Welcome.' },
          { author: '0', content: 'Hi' },
        ],
      },
      candidateCount: 1,
      temperature: 1,
      topP: 0.5,
      topK: 3,
    })
    expect(lost).toEqual(['stop', 'temperature'])
  })
})
