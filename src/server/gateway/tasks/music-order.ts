import { fail } from '../../base/lib/failure.ts'
import { isObject, type JsonObject, textAt } from '../protocols/wire-format.ts'
import { isTaskId, type Order, type Verdict } from './order.ts'
import { cleanText, jsonText, storable } from './text.ts'

const timeoutMs = 60_000
const answerBytesMax = 1024 * 1024
const modelDefault = 'chirp-v3-0'

/** The members sent upstream; all others of the caller are dropped. */
const kept = [
  'gpt_description_prompt',
  'prompt',
  'mv',
  'title',
  'tags',
  'continue_at',
  'task_id',
  'continue_clip_id',
  'make_instrumental',
] as const

/**
 * Reads an order of music or lyrics. Throws `task_action_invalid`, `task_prompt_required` or `field_invalid`. Source: protocols
 * notes 2.20. Pure.
 */
export function readMusicOrder(act: string, sent: JsonObject): Order {
  if (act !== 'music' && act !== 'lyrics') fail('task_action_invalid', { action: act.slice(0, 50) })
  const prompt = [textAt(sent, 'prompt'), textAt(sent, 'gpt_description_prompt')].filter((text) => text !== '').join('\n')
  if (act === 'lyrics' && textAt(sent, 'prompt').trim() === '') fail('task_prompt_required')
  const parentId = textAt(sent, 'continue_clip_id') === '' ? '' : textAt(sent, 'task_id')
  if (textAt(sent, 'continue_clip_id') !== '' && parentId === '')
    fail('field_invalid', { field: 'task_id', reason: { zh: '不能为空', en: 'is required' } })
  const body = Object.fromEntries(kept.flatMap((name) => (sent[name] === undefined ? [] : [[name, sent[name]]])))
  const action = act.toUpperCase()
  const models = [`suno_${act}`]

  return {
    table: 'tasks',
    format: 'music',
    action,
    models,
    prices: models,
    prompt,
    parent: parentId === '' ? undefined : { id: parentId, mustBeDone: false },
    details: { action, properties: jsonText({ input: storable(prompt).slice(0, 10_000) }, 100_000) },
    question: ({ mapped }) => ({
      path: `/suno/submit/${action}`,
      body: act === 'music' || textAt(sent, 'mv') !== '' ? { ...body, mv: mapped(textAt(sent, 'mv') || modelDefault) } : body,
      timeoutMs,
      sizeBytesMax: answerBytesMax,
    }),
    read: readMusicVerdict,
  }
}

function readMusicVerdict(answer: JsonObject): Verdict | undefined {
  const { code, data } = answer
  if (typeof code !== 'string' && typeof code !== 'number') return undefined
  const message = cleanText(textAt(answer, 'message'), undefined)
  if (code !== 'success') {
    const refused = { isAccepted: false, isChannels: false, isOutOfAccounts: false, answer: undefined, details: {} } as const
    return { ...refused, code: String(code).slice(0, 100), reason: message }
  }
  const id = isObject(data) ? textAt(data, 'task_id') : data
  if (!isTaskId(id)) return undefined
  const reply = { code: 'success', message, data: id }
  return { isAccepted: true, upstreamId: id, isRepeated: false, status: 'NOT_START', details: {}, answer: reply }
}
