import { sitePath } from '../../lib/base-path.ts'
import { callerHeaders } from '../../lib/call.ts'
import { readErrorText } from '../../lib/chat-events.ts'
import { textOf } from '../../lib/i18n.ts'
import { expireSession } from '../../lib/session.ts'
import { type Decision, readDecision } from './decisions.ts'
import { texts } from './texts.ts'

interface DecisionRequest {
  readonly group: string
  readonly model: string
  readonly input: string
  readonly questions: readonly Record<string, unknown>[]
}

/** Asks for a decision in the session of the console. Never throws. */
export async function askDecision(request: DecisionRequest): Promise<Decision> {
  try {
    const response = await fetch(sitePath('/pg/decisions'), {
      method: 'POST',
      headers: { ...callerHeaders(), 'Content-Type': 'application/json' },
      body: JSON.stringify(request),
    })
    if (response.status === 401) expireSession()
    const text = await response.text()
    if (!response.ok) return { state: 'error', message: readErrorText(text) || `${response.status} ${response.statusText}` }
    return {
      ...readDecision(text),
      state: 'complete',
      requestId: response.headers.get('x-oneapi-request-id') ?? '',
      isTranslated: (response.headers.get('x-sluice-dropped') ?? '').includes('answers.probabilities'),
    }
  } catch {
    return { state: 'error', message: textOf(texts, 'decisionLost') }
  }
}
