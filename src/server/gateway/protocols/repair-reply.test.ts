import { describe, expect, it } from 'vitest'
import { grammarFaults } from '../../../../test/helpers/codecs.ts'
import { anyReply } from '../../../../test/helpers/replies.ts'
import { repairReply } from './repair-reply.ts'
import type { ReplyEvent } from './reply-events.ts'

function repaired(written: Parameters<typeof repairReply>[0], events: readonly ReplyEvent[]): ReplyEvent[] {
  const repair = repairReply(written)
  return events.flatMap((event) => repair(event))
}

const call = (name: string, pieces: readonly string[]): ReplyEvent[] => [
  { type: 'start' },
  { type: 'open', index: 0, block: 'tool-call', callId: 'call_1', name },
  ...pieces.map((text): ReplyEvent => ({ type: 'delta', index: 0, text })),
  { type: 'close', index: 0 },
  { type: 'finish', reason: 'tool-calls' },
  { type: 'end' },
]

describe('a change of the written request', () => {
  it('[276] is undone in the name of a tool', () => {
    const events = repaired(
      { toolNames: new Map([['mcp_server_tool', 'mcp__server.tool/x y']]) },
      call('mcp_server_tool', ['{}']),
    )
    expect(events[1]).toMatchObject({ name: 'mcp__server.tool/x y' })
  })

  it('[112] is undone in the input of a free-text tool, however its JSON was split', () => {
    const json = JSON.stringify({ input: 'line one\n"two" 😀' })
    for (let cut = 1; cut < json.length; cut++) {
      const events = repaired({ customTools: new Set(['patch']) }, call('patch', [json.slice(0, cut), json.slice(cut)]))
      expect(events[1]).toMatchObject({ block: 'custom-tool-call', name: 'patch' })
      expect(events[2]).toEqual({ type: 'delta', index: 0, text: 'line one\n"two" 😀' })
      expect(grammarFaults(events)).toEqual([])
    }
  })

  it('[185] is undone in an answer that was the input of a tool', () => {
    const events = repaired({ answerTool: 'json_response' }, call('json_response', ['{"a":', '1}']))
    expect(events[1]).toEqual({ type: 'open', index: 0, block: 'text' })
    expect(events.filter((event) => event.type === 'finish')).toEqual([{ type: 'finish', reason: 'stop' }])
    expect(grammarFaults(events)).toEqual([])
  })

  it('leaves the reply unchanged if there was none, and otherwise keeps the grammar of any reply', () => {
    for (let seed = 0; seed < 1000; seed++) {
      const before = anyReply(seed)
      expect(repaired({}, before)).toEqual(before)
      const written = { toolNames: new Map([['tool_1', 'one']]), customTools: new Set(['tool_2']), answerTool: 'tool_3' }
      expect([seed, grammarFaults(repaired(written, before))]).toEqual([seed, []])
    }
  })
})
