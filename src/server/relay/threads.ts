import { AppError } from '../lib/failure.ts'
import { isObject } from '../protocols/wire-format.ts'
import type { Provider } from '../providers/provider.ts'
import { UpstreamFailure } from './failure.ts'
import type { Work } from './relay-parts.ts'

/**
 * A Messages caller may leave the conversation with the vendor and send only what is new. An upstream that does not keep it would answer
 * without its beginning. The caller is told so in the words by which its SDK goes on without a thread. Undefined when all is well.
 */
export function refusedThread({ format, body }: Work, { keepsThreads }: Provider): UpstreamFailure | undefined {
  if (keepsThreads || format.format !== 'anthropic.messages' || !isObject(body.json.thread)) return undefined
  const reason = { zh: '该渠道不保存对话', en: 'this channel keeps no conversations' }
  return new UpstreamFailure('untranslatable', { own: new AppError('untranslatable', { field: 'thread', reason }) })
}
