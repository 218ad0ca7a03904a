import { sitePath } from '../../lib/base-path.ts'
import { callerHeaders } from '../../lib/call.ts'
import { readErrorText } from '../../lib/chat-events.ts'
import { textOf } from '../../lib/i18n.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import { expireSession } from '../../lib/session.ts'
import { type Decision, type Failed, readDecision } from './decisions.ts'
import { type Media, type MediaDraft, readSources, writeDraft } from './media.ts'
import { texts } from './texts.ts'

interface DecisionRequest {
  readonly group: string
  readonly model: string
  readonly input: string
  readonly questions: readonly Record<string, unknown>[]
}

/** Asks for a decision in the session of the console. Never throws. */
export async function askDecision(request: DecisionRequest): Promise<Decision> {
  const answer = await ask('/pg/decisions', request)
  if (answer.state === 'error') return answer
  const { text, requestId, headers } = answer
  const isTranslated = (headers.get('x-sluice-dropped') ?? '').includes('answers.probabilities')
  return { ...readDecision(text), state: 'complete', requestId, isTranslated }
}

/** Orders pictures or clips in the session of the console. Never throws. */
export async function orderMedia(draft: MediaDraft, { group, model }: { group: string; model: string }): Promise<Media> {
  const path = draft.kind === 'picture' ? '/pg/images/generations' : '/pg/videos'
  const answer = await ask(path, { group, model, ...writeDraft(draft) })
  if (answer.state === 'error') return answer
  const body = parseJson(answer.text)
  if (draft.kind === 'picture') return { state: 'pictures', sources: readSources(body), requestId: answer.requestId }
  return { state: 'ordered', videoId: isJsonObject(body) ? String(body.id) : '' }
}

interface Answered {
  readonly state: 'answered'
  readonly text: string
  readonly headers: Headers
  readonly requestId: string
}

/** Sends a request of the playground in the session of the console, and reads the whole answer. Never throws. */
async function ask(path: string, request: object): Promise<Answered | Failed> {
  try {
    const response = await fetch(sitePath(path), {
      method: 'POST',
      headers: { ...callerHeaders(), 'Content-Type': 'application/json' },
      body: JSON.stringify(request),
    })
    if (response.status === 401) expireSession()
    const text = await response.text()
    if (!response.ok) return { state: 'error', message: readErrorText(text) || `${response.status} ${response.statusText}` }
    const { headers } = response
    return { state: 'answered', text, headers, requestId: headers.get('x-oneapi-request-id') ?? '' }
  } catch {
    return { state: 'error', message: textOf(texts, 'connectionLost') }
  }
}
