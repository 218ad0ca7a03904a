import { type ReplyTexts, slotsAt } from '../text-slots.ts'
import { arrayAt, countAt } from '../wire-format.ts'

const kinds = ['text', 'thinking'] as const

/** Texts of Messages: those of text and thinking blocks, which are sent one after the other. */
export const messagesTexts: ReplyTexts = {
  inEvent(data) {
    const member = data.type === 'content_block_start' ? 'content_block' : 'delta'
    const isBlock = data.type === 'content_block_start' || data.type === 'content_block_delta'
    return isBlock ? slotsAt(data[member], [member], kinds, (kind) => `${countAt(data, 'index')}/${kind}`) : []
  },
  inReply: (reply) =>
    arrayAt(reply, 'content').flatMap((block, index) => slotsAt(block, ['content', index], kinds, () => undefined)),
  closedBy: ({ type }) => (type === 'content_block_stop' || type === 'message_delta' || type === 'message_stop' ? [''] : []),
  unfinished: (data) => data,
  stoppedReply: (reply) => ({ ...reply, stop_reason: 'refusal', stop_sequence: null }),
  stoppedEvents: ({ last, usage }) => [
    { type: 'content_block_stop', index: countAt(last, 'index') },
    {
      type: 'message_delta',
      delta: { stop_reason: 'refusal', stop_sequence: null },
      usage: { output_tokens: usage.output },
    },
  ],
}
