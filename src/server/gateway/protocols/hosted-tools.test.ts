import { describe, expect, it } from 'vitest'
import { messagesTools } from './anthropic-messages/hosted-tools.ts'
import { geminiTools } from './gemini-generate/hosted-tools.ts'
import { chatTools } from './openai-chat/hosted-tools.ts'
import { responsesTools } from './openai-responses/hosted-tools.ts'

describe('the tools that a vendor runs', () => {
  it("are distinguished from the caller's tools and from tools that only cost tokens", () => {
    const types = ['function', 'custom', 'namespace', 'mcp', 'file_search', 'computer_use_preview', 'web_search_2025_08_26']
    expect(responsesTools({ tools: types.map((type) => ({ type })) })).toEqual({
      hostedTools: ['file_search', 'web_search'],
      freeTools: ['mcp'],
    })
    const tools = [
      { name: 'web_search', input_schema: {} },
      { type: 'custom', name: 'code_execution' },
      { type: 'text_editor_20250728' },
      { type: 'web_fetch_20250910' },
      { type: 'web_search_20250305' },
      { type: 'code_execution_20250825' },
    ]
    expect(messagesTools({ tools })).toEqual({ hostedTools: ['web_search', 'code_execution'], freeTools: ['web_fetch'] })
    expect(geminiTools({ tools: [{ function_declarations: [], urlContext: {}, google_maps: {} }] })).toEqual({
      hostedTools: ['google_maps'],
      freeTools: ['url_context'],
    })
    expect(chatTools({ model: 'gpt-4o', tools: [{ type: 'function', function: { name: 'f' } }] })).toEqual({})
  })

  it('include advisor and fallback models, and compaction', () => {
    const tools = [{ type: 'advisor_20260301', name: 'advisor', model: 'a' }]
    const fallbacks = [{ model: 'b' }, { model: 'a' }]
    expect(messagesTools({ tools, fallbacks })).toEqual({ freeTools: ['advisor'], otherModels: ['a', 'b'] })
    expect(messagesTools({ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } })).toEqual({})
    expect(messagesTools({ context_management: { edits: [{ type: 'compact_20260112' }] } })).toEqual({
      freeTools: ['compaction'],
    })
  })

  it('are named as in the price list: a container by its size, a search by its kind', () => {
    const container = { type: 'auto', memory_limit: '16g' }
    expect(responsesTools({ tools: [{ type: 'code_interpreter', container }] })).toEqual({
      hostedTools: ['code_interpreter_16g'],
    })
    expect(responsesTools({ tools: [{ type: 'shell', environment: { type: 'local' } }] })).toEqual({})
    expect(chatTools({ model: 'gpt-4o-mini-search-preview' })).toEqual({ hostedTools: ['web_search_preview'] })
    expect(geminiTools({ tools: [{ googleSearch: { searchTypes: { webSearch: {}, imageSearch: {} } } }] })).toEqual({
      hostedTools: ['web_search', 'image_search'],
    })
  })
})
