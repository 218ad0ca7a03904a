import { isObject, type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'
import { isTaskId, type Verdict } from './order.ts'
import { cleanText, webAddress } from './text.ts'

/** The codes by which the proxies answer an order. */
const codes = { done: 1, noAccount: 3, repeated: 21, queued: 22, queueFull: 23 } as const

/** Actions that first open a modal dialog: the upstream answers with the code of a repetition, and waits for a `modal` order. */
const opensWindow: ReadonlySet<string> = new Set(['INPAINT', 'CUSTOM_ZOOM'])

/** The verdict on an order of a drawing; undefined for an invalid reply. Pure. */
export function readDrawingVerdict(answer: JsonObject, action: string): Verdict | undefined {
  const { code } = answer
  if (typeof code !== 'number' || !Number.isSafeInteger(code)) return undefined
  const description = cleanText(textAt(answer, 'description'), undefined)
  const properties = objectAt(answer, 'properties') ?? {}
  if (code !== codes.done && code !== codes.repeated && code !== codes.queued)
    return {
      isAccepted: false,
      isChannels: code === codes.noAccount || code === codes.queueFull,
      isOutOfAccounts: code === codes.noAccount,
      code: String(code),
      reason: description,
      answer: { code, description, result: textAt(answer, 'result'), properties },
      details: { code, description },
    }

  const reply = { code, description, result: answer.result ?? '', properties }
  if (action === 'UPLOAD') return uploaded(answer, reply, { code, description })
  const result = typeof answer.result === 'number' ? String(answer.result) : answer.result
  if (!isTaskId(result)) return undefined
  const isWindow = opensWindow.has(action) && code === codes.repeated
  const imageUrl = webAddress(properties.imageUrl)
  return {
    isAccepted: true,
    upstreamId: result,
    isRepeated: code === codes.repeated && !isWindow,
    status: isWindow ? 'MODAL' : code === codes.repeated && properties.status === 'SUCCESS' ? 'SUCCESS' : 'SUBMITTED',
    details: { code, description, ...(imageUrl === '' ? {} : { image_url: imageUrl }) },
    answer: { ...reply, result },
  }
}

/** Images are stored when they are accepted: the answer is their URLs. */
function uploaded(answer: JsonObject, reply: JsonObject, details: { code: number; description: string }): Verdict {
  const addresses = (Array.isArray(answer.result) ? answer.result : [answer.result]).map(webAddress).filter((each) => each !== '')
  return {
    isAccepted: true,
    upstreamId: '',
    isRepeated: false,
    status: 'SUCCESS',
    details: { ...details, image_url: addresses[0] ?? '' },
    answer: { ...reply, result: isObject(answer.result) ? [] : answer.result },
  }
}
