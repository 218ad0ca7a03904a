import { describe, expect, it } from 'vitest'
import { convertOfTest, failureOf } from '../../../../../test/helpers/conversions.ts'
import { noUsage } from '../../../../contract/usage.ts'
import { directFacts } from './direct-facts.ts'
import { rerank } from './rerank.ts'

const asked = (more: Record<string, unknown> = {}) => ({
  model: 'asked',
  query: 'which?',
  documents: ['zero', 'one', 'two'],
  ...more,
})
const place = (index: number, relevance_score: number, more: object = {}) => ({ index, relevance_score, ...more })
const mend = (reply: unknown, request: Record<string, unknown>) => {
  const mended = rerank.mendReply?.(Buffer.from(JSON.stringify(reply)), request)
  return mended && JSON.parse(mended.toString())
}
const whole = { usage: { total_tokens: 9 }, meta: { tokens: { input_tokens: 9 } } }

describe('a ranking', () => {
  it('[264] is unchanged when it already has the common form', () => {
    expect(mend({ id: 'r', results: [place(2, 0.9), place(0, 0.1)], ...whole }, asked())).toBeUndefined()
    expect(mend({ results: [place(1, 0.5, { document: { text: 'one' } })] }, asked())).toBeUndefined()
  })

  it('[229] is sorted by score, with the document indices of the request, and limited to the requested number', () => {
    const results = [place(0, 0.2), place(1, 0.9), place(2, 0.5)]
    expect(mend({ results }, asked({ top_n: 2 }))).toEqual({ results: [place(1, 0.9), place(2, 0.5)] })
    expect(mend({ results }, asked({ top_k: 1 }))).toEqual({ results: [place(1, 0.9)] })
    expect(mend({ results }, asked({ top_n: 99 })).results).toHaveLength(3)
  })

  it('[230] includes the documents of the request when the caller wants them and the host returns none', () => {
    const documents = ['zero', { text: 'one', page: 7 }, 'two']
    const reply = { results: [place(1, 0.9), place(0, 0.2, { document: null })] }
    expect(mend(reply, asked({ documents, return_documents: true })).results).toEqual([
      place(1, 0.9, { document: { text: 'one', page: 7 } }),
      place(0, 0.2, { document: { text: 'zero' } }),
    ])
    expect(mend(reply, asked({ documents })).results).toEqual([place(1, 0.9), place(0, 0.2)])
  })

  it('[231] has documents as objects', () => {
    expect(mend({ results: [place(0, 1, { document: 'zero' })] }, asked()).results).toEqual([
      place(0, 1, { document: { text: 'zero' } }),
    ])
  })

  it('is the same from a host with results in data, or with relevance in score', () => {
    const voyage = { object: 'list', data: [place(1, 0.9)], model: 'rerank-2', usage: { total_tokens: 9 } }
    expect(mend(voyage, asked())).toEqual({ model: 'rerank-2', results: [place(1, 0.9)], ...whole })
    expect(mend({ results: [{ index: 2, score: 0.4 }] }, asked()).results).toEqual([place(2, 0.4)])
  })

  it('has usage in the forms of both vendors', () => {
    const results = [place(0, 1)]
    const units = { billed_units: { search_units: 1 } }
    expect(mend({ results, usage: { total_tokens: 9 } }, asked())).toEqual({ results, ...whole })
    expect(mend({ results, meta: { ...units, tokens: { input_tokens: 9 } } }, asked())).toEqual({
      results,
      meta: { ...units, tokens: { input_tokens: 9 } },
      usage: { prompt_tokens: 9, total_tokens: 9 },
    })
    expect(mend({ results, meta: units }, asked())).toBeUndefined()
  })

  it('is unchanged when it is not a reply', () => {
    for (const odd of [{ error: { message: 'no' } }, { results: 'x' }, {}, []]) expect(mend(odd, asked())).toBeUndefined()
  })

  it('is charged by the tokens that either vendor reports', () => {
    const facts = directFacts('asked')
    expect(rerank.readUsage({ usage: { total_tokens: 9 } }, facts)).toEqual({ ...noUsage, input: 9 })
    expect(rerank.readUsage({ meta: { tokens: { input_tokens: 8 } } }, facts)).toEqual({ ...noUsage, input: 8 })
    expect(rerank.readUsage({ meta: { billed_units: { search_units: 1 } } }, facts)).toBeUndefined()
  })
})

describe("a ranking in a vendor's own form", () => {
  const documents = ['zero', { text: 'one' }, 'two']

  it('[229] [230] Cohere: only texts are sent, and documents are added to the reply', () => {
    const { bodies, read, lost } = convertOfTest(
      'rerank',
      'cohere.rerank',
      asked({ documents, top_n: 99, return_documents: true, max_tokens_per_doc: 100, max_chunks_per_doc: 3 }),
    )
    expect(bodies).toEqual([
      { model: 'theirs', query: 'which?', documents: ['zero', 'one', 'two'], top_n: 3, max_tokens_per_doc: 100 },
    ])
    expect(lost).toEqual(['max_chunks_per_doc'])
    const meta = { api_version: { version: '2' }, billed_units: { search_units: 1 } }
    expect(read({ id: 'r', results: [place(1, 0.9), place(2, 0.3)], meta })).toEqual({
      id: 'r',
      model: 'asked',
      results: [place(1, 0.9, { document: { text: 'one' } }), place(2, 0.3, { document: { text: 'two' } })],
      meta,
    })
  })

  it('DashScope: results are read from output', () => {
    const { bodies, read } = convertOfTest('rerank', 'dashscope.rerank', asked({ top_k: 2 }))
    expect(bodies).toEqual([
      {
        model: 'theirs',
        input: { query: 'which?', documents: ['zero', 'one', 'two'] },
        parameters: { top_n: 2, return_documents: false },
      },
    ])
    const output = { results: [place(2, 0.9), place(0, 0.3)] }
    expect(read({ output, usage: { total_tokens: 9 }, request_id: 'r' })).toEqual({
      id: 'r',
      model: 'asked',
      ...output,
      ...whole,
    })
  })

  it('Voyage: the number of results is sent as top_k', () => {
    const { bodies, read } = convertOfTest('rerank', 'voyage.rerank', asked({ top_n: 1, truncation: true }))
    expect(bodies).toEqual([{ model: 'theirs', query: 'which?', documents: ['zero', 'one', 'two'], top_k: 1, truncation: true }])
    expect(read({ object: 'list', data: [place(1, 0.9)], usage: { total_tokens: 9 } })).toEqual({
      model: 'asked',
      results: [place(1, 0.9)],
      ...whole,
    })
  })

  it('Cloudflare: documents are sent as contexts, and results are read by id', () => {
    const { bodies, read } = convertOfTest('rerank', 'cloudflare.run', asked({ top_n: 2 }))
    expect(bodies).toEqual([{ query: 'which?', contexts: [{ text: 'zero' }, { text: 'one' }, { text: 'two' }], top_k: 2 }])
    expect(
      read({
        success: true,
        result: {
          response: [
            { id: 1, score: 0.2 },
            { id: 2, score: 0.7 },
          ],
        },
      }),
    ).toEqual({
      model: 'asked',
      results: [place(2, 0.7), place(1, 0.2)],
    })
  })

  it('documents other than texts are refused, with the field name', () => {
    for (const to of ['cohere.rerank', 'dashscope.rerank', 'voyage.rerank', 'cloudflare.run'] as const)
      for (const odd of [{ image: 'https://x/y.png' }, { text: 7 }, null, 7])
        expect(failureOf(() => convertOfTest('rerank', to, asked({ documents: ['a', odd] })))).toMatchObject({
          code: 'untranslatable',
          params: { field: 'documents' },
        })
  })

  it('a reply without ranking is an error', () => {
    for (const to of ['cohere.rerank', 'voyage.rerank', 'cloudflare.run'] as const)
      expect(convertOfTest('rerank', to, asked()).answer({ anything: 1 }).kind).toBe('refused')
    expect(convertOfTest('rerank', 'dashscope.rerank', asked()).answer({}).kind).toBe('refused')
  })
})
