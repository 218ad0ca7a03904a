import { fail } from '../../base/lib/failure.ts'
import type { Dialogue } from './dialogue.ts'
import { fieldNameFor } from './lost-fields.ts'
import { type PlainMessage, userText } from './plain-messages.ts'

/**
 * A conversation as one text, for upstreams without messages: a single message unchanged, several with the role before each. Tool
 * messages must already be text.
 */
export function transcript(messages: readonly PlainMessage[]): string {
  const [first] = messages
  if (messages.length === 1 && first?.role === 'user') return userText(first.parts)
  return messages.map((message) => `${labels[message.role]}: ${textOf(message)}`).join('\n\n')
}

/** For upstreams without tools: a forced tool cannot be left out. Throws `untranslatable`. */
export function refuseForcedTools({ from, tools, toolChoice }: Dialogue): void {
  const isForced =
    toolChoice?.kind === 'required' || toolChoice?.kind === 'tool' || (toolChoice?.kind === 'allowed' && toolChoice.isRequired)
  if (tools.length === 0 || !isForced) return
  fail('untranslatable', {
    field: fieldNameFor(from, 'toolChoice'),
    reason: { zh: '该协议没有工具', en: 'that protocol has no tools' },
  })
}

const labels = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' } as const

function textOf(message: PlainMessage): string {
  return message.role === 'user' ? userText(message.parts) : message.text
}
