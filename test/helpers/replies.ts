import { noUsage } from '../../src/contract/usage.ts'
import type { Opaque } from '../../src/server/gateway/protocols/dialogue.ts'
import type { FinishReason, OpenEvent, ReplyEvent } from '../../src/server/gateway/protocols/reply-events.ts'
import { seeded } from './codecs.ts'

type Block = OpenEvent['block']

const blocks: readonly Block[] = ['text', 'reasoning', 'refusal', 'tool-call', 'custom-tool-call', 'image', 'audio']
const reasons: readonly FinishReason[] = [
  'stop',
  'stop-sequence',
  'length',
  'context-full',
  'tool-calls',
  'content-filter',
  'pause',
]
const noSeal: Opaque = { family: 'anthropic', kind: 'signature', value: 'c2ln' }
const seals: readonly Opaque[] = [
  noSeal,
  { family: 'anthropic', kind: 'redacted', value: 'cmVk' },
  { family: 'openai', kind: 'encrypted', value: 'ZW5j' },
  { family: 'google', kind: 'signature', value: 'dGhv' },
]

const token = { token: 'Hello', logprob: -0.5, bytes: null, top: [{ token: 'Hi', logprob: -1.5, bytes: [72, 105] }] }

/**
 * Any complete reply that the grammar of `ReplyEvent` allows, the same for the same seed: parallel calls, usage at any position,
 * empty blocks. The input of a call is JSON, cut anywhere.
 */
export function anyReply(seed: number): ReplyEvent[] {
  const random = seeded(seed)
  const below = (count: number) => Math.floor(random() * count)
  const events: ReplyEvent[] = [{ type: 'start' }]
  const open = new Map<number, { block: Block; left: string[] }>()
  const total = below(6)
  let next = 0

  while (next < total || open.size > 0) {
    const block = blocks[below(blocks.length)] ?? 'text'
    const isBeside = open.size === 0 || (isCall(block) && [...open.values()].every((other) => isCall(other.block)))
    if (next < total && isBeside && random() < 0.4) {
      events.push(opened(next, block))
      open.set(next++, { block, left: piecesOf(block, next, below) })
      continue
    }
    if (random() < 0.1) events.push({ type: 'usage', usage: { ...noUsage, input: below(99), output: below(99) } })
    const [index, one] = [...open][below(open.size)] ?? []
    if (index === undefined || one === undefined) continue
    const text = one.left.shift()
    if (one.block === 'text' && random() < 0.2) events.push({ type: 'logprobs', index, tokens: [token] })
    if (text !== undefined && text !== '') events.push({ type: 'delta', index, text })
    if (one.block === 'reasoning' && random() < 0.3)
      events.push({ type: 'opaque', index, opaque: seals[below(seals.length)] ?? noSeal })
    if (one.block === 'text' && random() < 0.2) {
      events.push({ type: 'cite', index, citation: { url: 'https://example.test/a', title: 'A', start: 0, end: 1 } })
    }
    if (one.left.length > 0) continue
    events.push({ type: 'close', index })
    open.delete(index)
  }
  if (random() < 0.9) events.push({ type: 'finish', reason: reasons[below(reasons.length)] ?? 'stop' })
  if (random() < 0.7)
    events.push({ type: 'usage', usage: { ...noUsage, input: 7, cacheRead: 3, cacheWrite: 2, output: 5, reasoning: 1 } })
  return [...events, { type: 'end' }]
}

function isCall(block: Block): boolean {
  return block === 'tool-call' || block === 'custom-tool-call'
}

function opened(index: number, block: Block): OpenEvent {
  switch (block) {
    case 'tool-call':
    case 'custom-tool-call':
      return { type: 'open', index, block, callId: `call_${index}`, name: `tool_${index}` }
    case 'image':
    case 'audio':
      return { type: 'open', index, block, mediaType: block === 'image' ? 'image/png' : 'audio/wav' }
    default:
      return { type: 'open', index, block }
  }
}

function piecesOf(block: Block, index: number, below: (count: number) => number): string[] {
  if (block === 'tool-call') {
    const json = JSON.stringify({ index, text: 'a "quoted" 😀 word' })
    const cut = below(json.length)
    return below(4) === 0 ? [] : [json.slice(0, cut), json.slice(cut)]
  }
  if (block === 'image' || block === 'audio') return ['iVBORw0KGgo=']
  return ['Hello ', '', 'wörld\n"', '😀'].slice(0, below(5))
}
