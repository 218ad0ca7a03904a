import { decodeComponent } from '../../../base/lib/net/parse-url.ts'

/** The paths of drawings and music, which have forms of their own beside the table of `endpoints.ts`. */

/** A call about drawings (`/mj`) or music (`/suno`). Ids are those of the upstream. */
export type TaskCall =
  | { readonly action: 'draw'; readonly act: DrawingAct; readonly mode: DrawingMode }
  | { readonly action: 'drawing' | 'seed' | 'image'; readonly id: string }
  | { readonly action: 'drawings' | 'notify' }
  | { readonly action: 'compose'; readonly act: string }
  | { readonly action: 'song'; readonly id: string }
  | { readonly action: 'songs' }

/** The last part of an address that orders a drawing. */
export type DrawingAct = (typeof drawingActs)[number]

/** How fast a drawing is to be made; '' leaves that to the upstream. */
export type DrawingMode = '' | 'fast' | 'relax' | 'turbo'

const drawingActs = [
  'imagine',
  'change',
  'simple-change',
  'describe',
  'blend',
  'action',
  'shorten',
  'modal',
  'upload-discord-images',
  'swap',
] as const

/** Every task endpoint as `METHOD /path`, the drawing paths without a mode. */
export const taskLines: readonly string[] = [
  ...drawingActs.map((act) => `POST /mj/${act === 'swap' ? 'insight-face' : 'submit'}/${act}`),
  'POST /mj/notify',
  'POST /mj/task/list-by-condition',
  'GET /mj/task/{id}/fetch',
  'GET /mj/task/{id}/image-seed',
  'GET /mj/image/{id}',
  'POST /suno/submit/{act}',
  'POST /suno/fetch',
  'GET /suno/fetch/{id}',
]

export function isTaskPath(url: string): boolean {
  return /^\/(?:mj(?:-\w{1,20})?|suno)\//.test(url)
}

interface FoundTask {
  readonly method: 'GET' | 'POST'
  readonly taskCall: TaskCall
}

/** Finds the call of a path without its query. The mode is written `/mj-fast/mj/…` or `/mj-fast/…`. Undefined for unknown paths. */
export function findTaskCall(path: string): FoundTask | undefined {
  return path.startsWith('/suno/') ? musicCall(path.slice('/suno'.length)) : drawingCall(path)
}

function drawingCall(path: string): FoundTask | undefined {
  const [, mode = '', rest = ''] = /^\/mj(?:-(\w+))?(?:(?<=-\w+)\/mj)?(\/.+)$/.exec(path) ?? []
  const act = /^\/(?:submit|insight-face)\/([\w-]+)$/.exec(rest)?.[1]
  const known = drawingActs.find((each) => each === act)
  const isSwap = rest.startsWith('/insight-face/')
  if (known && (known === 'swap') === isSwap)
    return { method: 'POST', taskCall: { action: 'draw', act: known, mode: modeOf(mode) } }
  if (rest === '/notify') return { method: 'POST', taskCall: { action: 'notify' } }
  if (rest === '/task/list-by-condition') return { method: 'POST', taskCall: { action: 'drawings' } }

  const [, id = '', part] = /^\/task\/([^/]+)\/(fetch|image-seed)$/.exec(rest) ?? []
  if (id !== '') return { method: 'GET', taskCall: { action: part === 'fetch' ? 'drawing' : 'seed', id: decodeComponent(id) } }
  const image = /^\/image\/([^/]+)$/.exec(rest)?.[1]
  return image === undefined ? undefined : { method: 'GET', taskCall: { action: 'image', id: decodeComponent(image) } }
}

function musicCall(rest: string): FoundTask | undefined {
  const act = /^\/submit\/(\w+)$/.exec(rest)?.[1]
  if (act !== undefined) return { method: 'POST', taskCall: { action: 'compose', act: act.toLowerCase() } }
  if (rest === '/fetch') return { method: 'POST', taskCall: { action: 'songs' } }
  const id = /^\/fetch\/([^/]+)$/.exec(rest)?.[1]
  return id === undefined ? undefined : { method: 'GET', taskCall: { action: 'song', id: decodeComponent(id) } }
}

function modeOf(text: string): DrawingMode {
  return text === 'fast' || text === 'relax' || text === 'turbo' ? text : ''
}
