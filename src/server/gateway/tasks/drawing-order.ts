import type { OptionValues } from '../../../contract/options/index.ts'
import { fail } from '../../base/lib/failure.ts'
import { arrayAt, type JsonObject, textAt } from '../protocols/wire-format.ts'
import type { DrawingAct, DrawingMode } from '../relay/http/task-paths.ts'
import { readDrawingVerdict } from './drawing-verdict.ts'
import type { Order } from './order.ts'
import { storable } from './text.ts'

type DrawingOptions = Pick<
  OptionValues,
  'MjAccountFilterEnabled' | 'MjNotifyEnabled' | 'MjModeClearEnabled' | 'MjActionCheckSuccessEnabled'
>

const timeoutMs = 60_000
const answerBytesMax = 1024 * 1024

/**
 * Reads an order of a drawing. Throws `task_action_invalid`, `task_prompt_required` or `field_invalid`. Source: the interface of the
 * proxies for Midjourney, protocols notes 2.19. Pure.
 */
export function readDrawingOrder(
  { act, mode }: { act: DrawingAct; mode: DrawingMode },
  sent: JsonObject,
  options: DrawingOptions,
): Order {
  const { action, parentId } = readAction(act, sent)
  const prompt = promptOf(act, sent, options)
  const base = modelOf(action)
  const models = action === 'UPLOAD' ? [base, 'mj_uploads'] : [base]
  const fastPrice = mode === '' ? [] : [base.replace(/^(mj_)?/, `mj_${mode}_`)]

  return {
    table: 'midjourneys',
    format: 'drawing',
    action,
    models,
    prices: [...fastPrice, ...models],
    prompt,
    parent: parentId === '' ? undefined : { id: parentId, mustBeDone: act !== 'modal' && options.MjActionCheckSuccessEnabled },
    details: { action, prompt: storable(prompt).slice(0, 10_000), state: storable(textAt(sent, 'state')).slice(0, 1000) },
    question: ({ hook, priced }) => ({
      // Only a mode with its own price is requested.
      path: `${fastPrice.includes(priced) ? `/mj-${mode}` : ''}/mj/${act === 'swap' ? 'insight-face' : 'submit'}/${act}`,
      body: bodyFor(sent, { prompt, hook, options }),
      timeoutMs,
      sizeBytesMax: answerBytesMax,
    }),
    read: (answer) => readDrawingVerdict(answer, action),
  }
}

/** `mj_` and the action in lower case, except for face swaps. */
function modelOf(action: string): string {
  return action === 'SWAP_FACE' ? 'swap_face' : `mj_${action.toLowerCase()}`
}

const fixedActions: Readonly<Partial<Record<DrawingAct, string>>> = {
  imagine: 'IMAGINE',
  describe: 'DESCRIBE',
  blend: 'BLEND',
  shorten: 'SHORTEN',
  modal: 'MODAL',
  'upload-discord-images': 'UPLOAD',
  swap: 'SWAP_FACE',
}

function readAction(act: DrawingAct, sent: JsonObject): { action: string; parentId: string } {
  const fixed = fixedActions[act]
  if (fixed !== undefined) return { action: fixed, parentId: act === 'modal' ? requireText(sent, 'taskId') : '' }
  if (act === 'simple-change') return simpleChange(requireText(sent, 'content'))
  const parentId = requireText(sent, 'taskId')
  if (act === 'action') return { action: actionOfButton(textAt(sent, 'customId')), parentId }
  const action = textAt(sent, 'action').toUpperCase()
  return changes.has(action) ? { action, parentId } : fail('task_action_invalid', { action: action.slice(0, 50) })
}

const changes = new Set(['UPSCALE', 'VARIATION', 'REROLL'])
const changeLetters: Readonly<Record<string, string>> = { U: 'UPSCALE', V: 'VARIATION', R: 'REROLL' }

/** Example: `1320098173412546 U2`. */
function simpleChange(content: string): { action: string; parentId: string } {
  const [, parentId = '', letter = ''] = /^\s*(\S{1,128})\s+([UVR])[1-4]?\s*$/i.exec(content) ?? []
  const action = changeLetters[letter.toUpperCase()]
  return action ? { action, parentId } : fail('task_action_invalid', { action: content.slice(0, 50) })
}

/** Names of the buttons below a drawing, longer names before names that they contain. */
const buttons: readonly (readonly [RegExp, string])[] = [
  [/upsample/i, 'UPSCALE'],
  [/low_variation/i, 'LOW_VARIATION'],
  [/high_variation/i, 'HIGH_VARIATION'],
  [/variation/i, 'VARIATION'],
  [/^pan/i, 'PAN'],
  [/reroll/i, 'REROLL'],
  [/customzoom/i, 'CUSTOM_ZOOM'],
  [/outpaint/i, 'ZOOM'],
  [/inpaint/i, 'INPAINT'],
]

/** `MJ::JOB::upsample::2::…`, `MJ::Inpaint::1::…`. */
function actionOfButton(customId: string): string {
  const [, kind = '', job = ''] = customId.split('::')
  const name = kind === 'JOB' ? job : kind
  const [, action] = buttons.find(([pattern]) => pattern.test(name)) ?? []
  return action ?? fail('task_action_invalid', { action: customId.slice(0, 50) })
}

function promptOf(act: DrawingAct, sent: JsonObject, { MjModeClearEnabled }: DrawingOptions): string {
  const prompt = textAt(sent, 'prompt')
  const needsPrompt = act === 'imagine' || act === 'shorten'
  if (needsPrompt && prompt.trim() === '') fail('task_prompt_required')
  if (act === 'blend' && arrayAt(sent, 'base64Array').length === 0) missing('base64Array')
  if (act === 'upload-discord-images' && arrayAt(sent, 'base64Array').length === 0) missing('base64Array')
  if (act === 'describe' && textAt(sent, 'base64') === '' && textAt(sent, 'link') === '') missing('base64')
  return MjModeClearEnabled ? withoutMode(prompt) : prompt
}

/** The prompt without the switches for speed, and without the whitespace before them. */
function withoutMode(prompt: string): string {
  const pieces = prompt.split(/--(?:fast|relax|turbo)(?![\w-])/i)
  const last = pieces.pop() ?? ''
  return [...pieces.map((piece) => piece.trimEnd()), last].join('').trim()
}

function bodyFor(sent: JsonObject, more: { prompt: string; hook: string; options: DrawingOptions }): JsonObject {
  const { accountFilter, notifyHook, ...rest } = sent
  const { prompt, hook, options } = more
  const own = typeof notifyHook === 'string' && /^https?:\/\//i.test(notifyHook) ? notifyHook : hook
  return {
    ...rest,
    ...(prompt === '' && !('prompt' in sent) ? {} : { prompt }),
    ...(options.MjAccountFilterEnabled && accountFilter !== undefined ? { accountFilter } : {}),
    ...(options.MjNotifyEnabled && own !== '' ? { notifyHook: own } : {}),
  }
}

function requireText(sent: JsonObject, field: string): string {
  return textAt(sent, field).trim() || missing(field)
}

function missing(field: string): never {
  fail('field_invalid', { field, reason: { zh: '不能为空', en: 'is required' } })
}
