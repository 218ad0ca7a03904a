import { decodeComponent } from '../../../base/lib/net/parse-url.ts'

/** The paths of drawings, music and clips, which have forms of their own beside the table of `endpoints.ts`. */

/** A call about drawings (`/mj`) or music (`/suno`), with ids of the upstream, or about clips, with ids of this site. */
export type TaskCall =
  | { readonly action: 'draw'; readonly act: DrawingAct; readonly mode: DrawingMode }
  | { readonly action: 'drawing' | 'seed' | 'image'; readonly id: string }
  | { readonly action: 'drawings' | 'notify' }
  | { readonly action: 'compose'; readonly act: string }
  | { readonly action: 'song'; readonly id: string }
  | { readonly action: 'songs' }
  | { readonly action: 'film'; readonly shape: VideoShape; readonly from: 'token' | 'session' }
  | { readonly action: 'video'; readonly shape: VideoShape; readonly from: 'token' | 'session'; readonly id: string }
  | { readonly action: 'videos'; readonly from: 'token' | 'session' }
  | { readonly action: 'delete-video'; readonly from: 'token' | 'session'; readonly id: string }
  | { readonly action: 'clip'; readonly id: string }

/** The two ways in which callers order clips: `/v1/videos`, and the family's `/v1/video/generations`. */
export type VideoShape = 'videos' | 'family'

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
  ...['v1', 'pg'].flatMap((root) => [
    `POST /${root}/videos`,
    `GET /${root}/videos`,
    `GET /${root}/videos/{id}`,
    `DELETE /${root}/videos/{id}`,
  ]),
  'GET /v1/videos/{id}/content',
  'POST /v1/video/generations',
  'GET /v1/video/generations/{id}',
]

export function isTaskPath(url: string): boolean {
  return /^\/(?:mj(?:-\w{1,20})?|suno)\//.test(url) || videoPath.test(url)
}

/** `edits`, `extensions` and `characters` are no ids, and not offered. */
const videoPath =
  /^\/(?:(v1|pg)\/videos(?:\/(?!(?:edits|extensions|characters)(?:[/?]|$))([\w-]{1,100})(\/content)?)?|v1\/video\/generations(?:\/([\w-]{1,100}))?)(?=\?|$)/

type Method = 'GET' | 'POST' | 'DELETE'

interface FoundTask {
  readonly method: string
  /** Undefined when the path takes other methods only, which `method` has. */
  readonly taskCall: TaskCall | undefined
}

/** Finds the call of a path without its query. The mode is written `/mj-fast/mj/…` or `/mj-fast/…`. Undefined for unknown paths. */
export function findTaskCall(method: string, path: string): FoundTask | undefined {
  const video = videoPath.exec(path)
  if (video) {
    const calls = videoCalls(video)
    return { method: Object.keys(calls).join(', '), taskCall: Object.hasOwn(calls, method) ? calls[method as Method] : undefined }
  }
  const found = path.startsWith('/suno/') ? musicCall(path.slice('/suno'.length)) : drawingCall(path)
  return found?.method === method ? found : found && { method: found.method, taskCall: undefined }
}

function videoCalls([, root, id, content, task]: RegExpExecArray): Partial<Record<Method, TaskCall>> {
  const from = root === 'pg' ? 'session' : 'token'
  if (root === undefined) {
    if (task === undefined) return { POST: { action: 'film', shape: 'family', from } }
    return { GET: { action: 'video', shape: 'family', from, id: task } }
  }
  if (id === undefined) return { POST: { action: 'film', shape: 'videos', from }, GET: { action: 'videos', from } }
  if (content !== undefined) return { GET: { action: 'clip', id } }
  return { GET: { action: 'video', shape: 'videos', from, id }, DELETE: { action: 'delete-video', from, id } }
}

/** A call of the paths with one method each. */
interface OneCall {
  readonly method: 'GET' | 'POST'
  readonly taskCall: TaskCall
}

function drawingCall(path: string): OneCall | undefined {
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

function musicCall(rest: string): OneCall | undefined {
  const act = /^\/submit\/(\w+)$/.exec(rest)?.[1]
  if (act !== undefined) return { method: 'POST', taskCall: { action: 'compose', act: act.toLowerCase() } }
  if (rest === '/fetch') return { method: 'POST', taskCall: { action: 'songs' } }
  const id = /^\/fetch\/([^/]+)$/.exec(rest)?.[1]
  return id === undefined ? undefined : { method: 'GET', taskCall: { action: 'song', id: decodeComponent(id) } }
}

function modeOf(text: string): DrawingMode {
  return text === 'fast' || text === 'relax' || text === 'turbo' ? text : ''
}
