import { describe, expect, it } from 'vitest'
import { assistantTurn, tideTool, toolTurns, userTurn, written } from '../../../test/helpers/codecs.ts'
import type { Codec } from './codec.ts'
import { cohereChat } from './cohere-chat/codec.ts'
import { cozeChat } from './coze-chat/codec.ts'
import { dashScopeChat } from './dashscope-chat/codec.ts'
import type { MediaPart, Turn } from './dialogue.ts'
import { difyChat } from './dify-chat/codec.ts'
import { ernieChat } from './ernie-chat/codec.ts'
import { hunyuanChat } from './hunyuan-chat/codec.ts'
import { libraryAsk } from './library-ask/codec.ts'
import { ollamaChat } from './ollama-chat/codec.ts'
import { palmMessage } from './palm-message/codec.ts'
import { replicatePredict } from './replicate-predict/codec.ts'
import { sparkChat } from './spark-chat/codec.ts'

/** Common behaviour of all formats of vendors without callers of their own. */
const codecs: readonly Codec[] = [
  cohereChat,
  cozeChat,
  difyChat,
  ernieChat,
  ollamaChat,
  replicatePredict,
  sparkChat,
  dashScopeChat,
  hunyuanChat,
  palmMessage,
  libraryAsk,
]
const text = (turn: unknown) => JSON.stringify(turn)

describe.each(codecs.map((codec) => [codec.format, codec] as const))('a request as %s', (_, codec) => {
  it('[126] is refused when it is to answer nothing', () => {
    expect(() => written(codec, { outputTokensMax: 0, from: 'anthropic.messages' })).toThrow('max_tokens')
  })

  it('is refused when the vendor of the caller was to search', () => {
    expect(() => written(codec, { search: { contextSize: undefined, location: undefined } })).toThrow('web_search_options')
  })

  it("reports every member of the caller's family, except those without effect", () => {
    const extra = { logit_bias: { 50256: -100 }, store: false, metadata: null, stop_tokens: [] }
    expect(written(codec, { extra }).lost).toEqual(['logit_bias'])
  })

  it('[137] keeps all instructions, at the head and in the middle, in their order', () => {
    const { body } = written(codec, {
      system: [
        { kind: 'text', text: 'First.' },
        { kind: 'text', text: 'Second.' },
      ],
      turns: [userTurn('Hi'), { role: 'system', parts: [{ kind: 'text', text: 'Third.' }] }, userTurn('Go')],
    })
    expect(text(body)).toMatch(/First\..*Second\..*Third\./)
  })

  it('[83] [84] survives a result without a call and a call without a result', () => {
    const [call, result] = toolTurns()
    const orphan: Turn = { role: 'user', parts: result?.parts ?? [] }
    const { body } = written(codec, { turns: [orphan, userTurn('Hi')] }, { model: 'ERNIE-4.0-8K' })
    expect(text(body)).not.toContain('high')
    const cut = written(codec, { tools: [tideTool], turns: call ? [userTurn('Hi'), call, userTurn('Well?')] : [] })
    expect(text(cut.body)).toContain('(no result)')
  })

  it('[89] says of a failed tool that it failed', () => {
    const [call, result] = toolTurns('no such port')
    const failed = { role: 'user' as const, parts: (result?.parts ?? []).map((part) => ({ ...part, isError: true })) }
    const { body } = written(codec, { tools: [tideTool], turns: [userTurn('Hi'), ...(call ? [call] : []), failed as Turn] })
    expect(text(body)).toContain('Error: no such port')
  })

  it('never sends the sealed state of another family', () => {
    const sealed: Turn = {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: 'secret thought', opaque: { family: 'anthropic', kind: 'signature', value: 'SEAL' } },
        { kind: 'text', text: 'Hello.' },
      ],
    }
    const { body } = written(codec, { turns: [userTurn('Hi'), sealed, userTurn('Go')] })
    expect(text(body)).not.toMatch(/SEAL|secret thought/)
  })

  it('never sends a file that lies with another vendor', () => {
    const file: MediaPart = { kind: 'media', media: 'image', source: { kind: 'file', id: 'file-1', family: 'openai' } }
    expect(() => written(codec, { turns: [{ role: 'user', parts: [file] }] })).toThrow('image')
  })

  it('writes a plain text document as text', () => {
    const note: MediaPart = {
      kind: 'media',
      media: 'document',
      title: 'Log',
      source: { kind: 'text', mediaType: 'text/plain', text: 'wind 3' },
    }
    expect(text(written(codec, { turns: [{ role: 'user', parts: [note] }] }).body)).toContain('Log:\\nwind 3')
  })

  // A step for each pair of messages would take longer than a test may.
  it('[183] is written with steps for each message, not for each pair', () => {
    const turns = Array.from({ length: 15_000 }, (_, at) => [userTurn(`Question ${at}`), assistantTurn(`Answer ${at}`)]).flat()
    expect(written(codec, { turns: [...turns, userTurn('Last')] }).body).toBeDefined()
  })
})
