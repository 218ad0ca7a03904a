import { describe, expect, it } from 'vitest'
import type { Dialogue } from '../../protocols/dialogue.ts'
import type { Format } from '../../protocols/format.ts'
import { bodyOverrides } from './body-overrides.ts'
import { dialogueWithPrompt, type SystemPrompt, withSystemPrompt } from './system-prompt.ts'

const user = { role: 'user', content: 'hi' }
const write = (format: Format, body: object, more: Partial<SystemPrompt> = {}) =>
  withSystemPrompt(format, body as never, { text: 'be kind', ...more })

describe('the instructions of a channel', () => {
  it.each<[string, Format, object, object]>([
    ['Chat without any', 'openai.chat', { messages: [user] }, { messages: [{ role: 'system', content: 'be kind' }, user] }],
    [
      'Chat with a text',
      'openai.chat',
      { messages: [{ role: 'developer', content: 'be brief', name: 'd' }, user] },
      { messages: [{ role: 'developer', content: 'be kind\n\nbe brief', name: 'd' }, user] },
    ],
    [
      'Chat with parts',
      'openai.chat',
      { messages: [{ role: 'system', content: [{ type: 'text', text: 'be brief' }] }, user] },
      {
        messages: [
          {
            role: 'system',
            content: [
              { type: 'text', text: 'be kind' },
              { type: 'text', text: 'be brief' },
            ],
          },
          user,
        ],
      },
    ],
    ['Messages without any', 'anthropic.messages', { messages: [user] }, { messages: [user], system: 'be kind' }],
    ['Messages with a text', 'anthropic.messages', { system: 'be brief' }, { system: 'be kind\n\nbe brief' }],
    [
      'Messages with blocks',
      'anthropic.messages',
      { system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral' } }] },
      {
        system: [
          { type: 'text', text: 'be kind' },
          { type: 'text', text: 'be brief', cache_control: { type: 'ephemeral' } },
        ],
      },
    ],
    ['Responses without any', 'openai.responses', { input: 'hi', instructions: null }, { input: 'hi', instructions: 'be kind' }],
    ['Responses with some', 'openai.responses', { instructions: 'be brief' }, { instructions: 'be kind\n\nbe brief' }],
    [
      'Gemini without any',
      'gemini.generate',
      { contents: [] },
      { contents: [], systemInstruction: { parts: [{ text: 'be kind' }] } },
    ],
    [
      'Gemini with some, in the other spelling',
      'gemini.generate',
      { system_instruction: { role: 'system', parts: [{ text: 'be brief' }] } },
      { system_instruction: { role: 'system', parts: [{ text: 'be kind' }, { text: 'be brief' }] } },
    ],
  ])("precedes the caller's: %s", (_what, format, body, expected) => {
    const before = JSON.stringify(body)
    expect(write(format, body)).toEqual(expected)
    expect(JSON.stringify(body)).toBe(before)
  })

  it.each<[Format, object]>([
    ['openai.chat', { messages: [user, { role: 'system', content: 'be brief' }] }],
    ['anthropic.messages', { system: 'be brief' }],
    ['openai.responses', { input: [{ role: 'developer', content: 'be brief' }] }],
    ['gemini.generate', { systemInstruction: { parts: [{ text: 'be brief' }] } }],
  ])('are filled in only if the caller sends none: %s', (format, body) => {
    expect(write(format, body, { mode: 'fill' })).toBe(body)
    expect(write(format, {}, { mode: 'fill' })).toEqual(write(format, {}))
  })

  it('treat an empty text or list of the caller as none', () => {
    expect(write('anthropic.messages', { system: [] }, { mode: 'fill' })).toEqual({ system: [{ type: 'text', text: 'be kind' }] })
    expect(write('anthropic.messages', { system: '  ' }, { mode: 'fill' })).toEqual({ system: 'be kind' })
  })

  it('are added only to conversations', () => {
    for (const format of ['openai.completions', 'openai.embeddings'] as const) {
      const body = { input: 'hi', prompt: 'hi' }
      expect(write(format, body)).toBe(body)
    }
    expect(write('anthropic.count_tokens', { messages: [user] })).toEqual({ messages: [user], system: 'be kind' })
    const body = { messages: [user] }
    expect(write('openai.chat', body, { text: ' ' })).toBe(body)
  })

  it('precede those of the caller in the neutral form of a conversation', () => {
    const given = { kind: 'text', text: 'be brief' } as const
    const dialogue = (more: object) => ({ system: [], turns: [], ...more }) as unknown as Dialogue
    const kind = { text: 'be kind' }
    expect(dialogueWithPrompt(dialogue({ system: [given] }), kind).system).toEqual([{ kind: 'text', text: 'be kind' }, given])
    for (const more of [{ system: [given] }, { turns: [{ role: 'system', parts: [given] }] }]) {
      const bare = dialogue(more)
      expect(dialogueWithPrompt(bare, { ...kind, mode: 'fill' })).toBe(bare)
    }
    expect(dialogueWithPrompt(dialogue({}), { ...kind, mode: 'fill' }).system).toHaveLength(1)
  })

  it('are applied before the rules of the channel, which may change them', () => {
    const setting = {
      system_prompt: 'be kind',
      param_override: [{ remove: 'temperature' }, { set: 'messages[0].name', to: 'x' }],
    }
    const body = { model: 'm', temperature: 1, messages: [user] }
    expect(bodyOverrides(setting, 'openai.chat', body, { model: 'm' })).toEqual({
      temperature: undefined,
      messages: [{ role: 'system', content: 'be kind', name: 'x' }, user],
    })
    expect(bodyOverrides({}, 'openai.chat', body, { model: 'm' })).toEqual({})
  })
})
