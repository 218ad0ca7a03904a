import type { Text } from '../../../contract/text.ts'
import type { CallerError } from './error-body.ts'
import type { Dialect } from './format.ts'
import type { KnownError } from './known-errors.ts'

/**
 * The error in the wording of the caller's vendor, for errors that clients recognise by it: Claude Code compacts at "prompt is too
 * long", Codex at the code `context_length_exceeded`. An error in the caller's dialect is unchanged.
 */
export function inDialect(dialect: Dialect, error: CallerError): CallerError {
  const { known } = error
  if (!known) return error
  const isOwn = known.dialect === dialect && error.message.en !== ''
  if (known.kind === 'context-too-long') {
    const code = dialect === 'openai' ? 'context_length_exceeded' : error.code
    return { ...error, type: 'invalid_request_error', code, ...(isOwn ? {} : { message: tooLong(dialect, known) }) }
  }
  if (known.kind !== 'content-filtered') return error
  const code = dialect === 'openai' && known.dialect !== 'openai' ? 'content_filter' : error.code
  return { ...error, type: 'invalid_request_error', code, ...(isOwn ? {} : { message: filtered(dialect, error.message) }) }
}

function tooLong(dialect: Dialect, { tokens, limit }: KnownError): Text {
  if (tokens === undefined || limit === undefined) return { zh: '提示超出了模型的上下文长度', en: tooLongUncounted(dialect) }
  return { zh: `提示过长：${tokens} 个 Token，该模型最多 ${limit} 个`, en: tooLongCounted(dialect, tokens, limit) }
}

function tooLongCounted(dialect: Dialect, tokens: number, limit: number): string {
  if (dialect === 'anthropic') return `prompt is too long: ${tokens} tokens > ${limit} maximum`
  if (dialect === 'gemini') return `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`
  return `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`
}

function tooLongUncounted(dialect: Dialect): string {
  if (dialect === 'anthropic') return 'prompt is too long for the context of this model'
  if (dialect === 'gemini') return 'The input token count exceeds the maximum number of tokens allowed.'
  // Clients of Chat look for the last words, those of Responses for the first ones.
  return 'Your input exceeds the context window of this model. Please reduce the length of the messages.'
}

function filtered(dialect: Dialect, { zh, en }: Text): Text {
  if (dialect === 'anthropic') return { zh, en: `Output blocked by content filtering policy: ${en}` }
  return { zh, en: `The request was blocked by the content filter of the model: ${en}` }
}
