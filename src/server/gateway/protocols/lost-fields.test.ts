import { describe, expect, it } from 'vitest'
import { dialogueOf, result, text, tideTool, user } from '../../../../test/helpers/dialogue.ts'
import type { Dialogue } from './dialogue.ts'
import type { Format } from './format.ts'
import { formats } from './index.ts'
import { type Field, fieldNameFor, loseAllBut, loseUnread } from './lost-fields.ts'

function lost(dialogue: Partial<Dialogue>, carried: readonly Field[] = [], dropsHostedTools = false): string[] {
  const named: string[] = []
  const settings = { claudeDefaultMaxTokens: {}, claudeThinkingShare: undefined, geminiSafety: {}, dropsHostedTools }
  loseAllBut(dialogueOf(dialogue), { model: 'm', quirks: {}, settings, lose: (field) => named.push(field) }, carried)
  return named.sort()
}

describe('a lost field', () => {
  it.each<[Format, string[]]>([
    ['openai.chat', ['max_tokens', 'reasoning_effort', 'stop', 'top_p']],
    ['openai.responses', ['max_output_tokens', 'reasoning', 'stop', 'top_p']],
    ['anthropic.messages', ['max_tokens', 'stop_sequences', 'thinking', 'top_p']],
    ['gemini.generate', ['maxOutputTokens', 'stopSequences', 'thinkingConfig', 'topP']],
  ])('is reported under its name in %s', (from, words) => {
    const asked: Partial<Dialogue> = {
      sampling: { topP: 1 },
      stop: ['x'],
      outputTokensMax: 5,
      reasoning: { mode: 'off', show: undefined },
    }
    expect(lost({ from, ...asked })).toEqual(words)
  })

  it('is not reported when it is carried over, or has no effect', () => {
    expect(lost({ sampling: { topP: 1, presencePenalty: 0 }, stop: [], toolChoice: { kind: 'auto' } }, ['topP'])).toEqual([])
    expect(lost({ parallelTools: false })).toEqual([])
    expect(lost({ parallelTools: false, tools: [tideTool] }, ['tools'])).toEqual(['parallel_tool_calls'])
    expect(lost({ tools: [tideTool], toolChoice: { kind: 'none' } }, ['toolChoice'])).toEqual([])
  })

  it('may be a prompt-cache breakpoint at any place', () => {
    const cache = { ttl: '5m' as const }
    expect(lost({ system: [text('x', { cache })] })).toEqual(['cache_control'])
    expect(lost({ tools: [{ ...tideTool, cache }] }, ['tools'])).toEqual(['cache_control'])
    expect(lost({ turns: [user(result('call_1', text('x', { cache })))] })).toEqual(['cache_control'])
  })

  it('may be a web search if another tool is carried over; otherwise the request is refused', () => {
    const search = { contextSize: undefined, location: undefined }
    const both = { search, tools: [tideTool] }
    expect(lost(both, ['tools'], true)).toContain('web_search_options')
    expect(() => lost(both, ['tools'])).toThrow('web_search_options')
    expect(() => lost(both, [], true)).toThrow('web_search_options')
    expect(() => lost({ search }, ['tools'], true)).toThrow('web_search_options')
    expect(lost(both, ['tools', 'search'])).toEqual([])
  })

  it('may be a tool that only its vendor has, but the request is refused if no tool is carried over', () => {
    const reason = { zh: '没有', en: 'nobody else has it' }
    const vendorOnly = [{ field: 'tools[1].type', name: 'tools.telescope', reason }]
    expect(lost({ vendorOnly, tools: [tideTool] }, ['tools'], true)).toEqual([])
    expect(() => lost({ vendorOnly, tools: [tideTool] }, [], true)).toThrow('nobody else has it')
  })

  it('is the validation of calls, except for Gemini', () => {
    const choice = { tools: [tideTool], toolChoice: { kind: 'auto', isValidated: true } } as const
    const settings = { claudeDefaultMaxTokens: {}, claudeThinkingShare: undefined, geminiSafety: {} }
    for (const to of ['openai.chat', 'openai.responses', 'anthropic.messages', 'gemini.generate', 'bedrock.converse'] as const) {
      const named: string[] = []
      const context = { model: 'm', quirks: {}, settings, lose: (field: string) => void named.push(field) }
      loseUnread(dialogueOf(choice), context, formats[to])
      expect([to, named]).toEqual([to, to === 'gemini.generate' ? [] : ['tool_choice']])
    }
  })

  it('has a name in every dialect', () => {
    for (const from of ['openai.chat', 'openai.responses', 'anthropic.messages', 'gemini.generate'] as const)
      expect(fieldNameFor(from, 'output')).not.toBe('')
  })
})
