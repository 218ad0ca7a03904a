import { fail } from '../../lib/failure.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { RelayParts } from '../relay-parts.ts'

/** Throws `sensitive_words` when a prompt has a listed word; the caller is not told which. At once, unless the prompt is long. */
export function checkPrompt(app: RelayParts, call: ClientExchange, prompt: readonly string[]): Promise<void> | undefined {
  const found = app.moderation.findInPrompt(prompt)
  if (found instanceof Promise) return found.then((word) => refuseWord(app, call, word))
  refuseWord(app, call, found)
  return undefined
}

function refuseWord({ callerLog }: RelayParts, call: ClientExchange, word: string | undefined): void {
  if (word === undefined) return
  callerLog.of(call.client).info({ request: call.id, word }, 'a prompt was refused for a listed word')
  fail('sensitive_words')
}
