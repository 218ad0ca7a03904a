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

interface Found {
  readonly method: 'GET' | 'POST'
  readonly taskCall: TaskCall
}

/** Finds the call of a path without its query. The mode is written `/mj-fast/mj/…` or `/mj-fast/…`. Undefined for unknown paths. */
export function findTaskCall(path: string): Found | undefined {
  return path.startsWith('/suno/') ? musicCall(path.slice('/suno'.length)) : drawingCall(path)
}

function drawingCall(path: string): Found | undefined {
  const [, mode = '', rest = ''] = /^\/mj(?:-(\w+))?(?:(?<=-\w+)\/mj)?(\/.+)$/.exec(path) ?? []
  const act = /^\/(?:submit|insight-face)\/([\w-]+)$/.exec(rest)?.[1]
  const known = drawingActs.find((each) => each === act)
  const isSwap = rest.startsWith('/insight-face/')
  if (known && (known === 'swap') === isSwap)
    return { method: 'POST', taskCall: { action: 'draw', act: known, mode: modeOf(mode) } }
  if (rest === '/notify') return { method: 'POST', taskCall: { action: 'notify' } }
  if (rest === '/task/list-by-condition') return { method: 'POST', taskCall: { action: 'drawings' } }

  const [, id = '', part] = /^\/task\/([^/]+)\/(fetch|image-seed)$/.exec(rest) ?? []
  if (id !== '') return { method: 'GET', taskCall: { action: part === 'fetch' ? 'drawing' : 'seed', id: decodePath(id) } }
  const image = /^\/image\/([^/]+)$/.exec(rest)?.[1]
  return image === undefined ? undefined : { method: 'GET', taskCall: { action: 'image', id: decodePath(image) } }
}

function musicCall(rest: string): Found | undefined {
  const act = /^\/submit\/(\w+)$/.exec(rest)?.[1]
  if (act !== undefined) return { method: 'POST', taskCall: { action: 'compose', act: act.toLowerCase() } }
  if (rest === '/fetch') return { method: 'POST', taskCall: { action: 'songs' } }
  const id = /^\/fetch\/([^/]+)$/.exec(rest)?.[1]
  return id === undefined ? undefined : { method: 'GET', taskCall: { action: 'song', id: decodePath(id) } }
}

function modeOf(text: string): DrawingMode {
  return text === 'fast' || text === 'relax' || text === 'turbo' ? text : ''
}

/**
 * Gemini says in the path which model is asked and what for: `/v1beta/models/{model}:generateContent`, the colon perhaps as `%3A`.
 * Undefined for a path without a method. Source: protocols notes 1.13.
 */
export function readGeminiPath(path: string): { model: string; method: string } | undefined {
  const [, name, method] = methodPath.exec(decodePath(path)) ?? []
  return name === undefined || method === undefined ? undefined : { model: plainModel(name), method }
}

/** The model name without the prefix `models/`, which may be repeated. Tuned models keep their prefix. */
export function plainModel(name: string): string {
  return name.replace(/^(?:(?:publishers\/google\/)?models\/)+/, '')
}

/** Without `alt=sse` a stream is one JSON array. */
export function asksForEvents(url: string): boolean {
  const query = url.indexOf('?')
  return query >= 0 && new URLSearchParams(url.slice(query)).get('alt') === 'sse'
}

export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Clients of the cloud's edition ask for `v1beta1`. */
const methodPath = /^\/v1(?:beta1?|alpha)?\/((?:models|tunedModels|publishers\/google\/models)\/.+):([a-zA-Z]+)$/
