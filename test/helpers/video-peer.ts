import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { closing, listening } from './listening.ts'

type Json = Record<string, unknown>

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Json
}

interface Job {
  state: 'queued' | 'running' | 'done' | 'failed'
  /** As the vendor reports them at the end. */
  seconds?: number
  pieces?: number
  reason?: string
}

type Answer = { readonly status?: number; readonly json: unknown } | undefined

/** The bytes of every clip. */
export const clipBytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))

/** The vendors of videos in one server on loopback, each with its own paths, states and authorization. Tests set the state of jobs. */
export async function startVideoPeer() {
  const jobs = new Map<string, Job>()
  const asked: Asked[] = []
  const peer = { program: undefined as ((asked: Asked) => Answer) | undefined, url: '', made: 0 }

  const order = () => {
    const id = `job-${++peer.made}`
    jobs.set(id, { state: 'queued' })
    return id
  }
  const links = (id: string) => Array.from({ length: jobs.get(id)?.pieces ?? 1 }, (_, at) => `${peer.url}/files/${id}-${at}.mp4`)
  const word = (id: string, words: readonly [string, string, string, string]) =>
    words[['queued', 'running', 'done', 'failed'].indexOf(jobs.get(id)?.state ?? 'queued')]
  const isDone = (id: string) => jobs.get(id)?.state === 'done'
  const has = (id: string) => jobs.has(id)

  /** Path, and what it answers with the id in it. */
  const vendors: readonly (readonly [RegExp, (id: string, body: Json) => Json])[] = [
    // Veo at Gemini
    [/^POST \/v1beta\/models\/([\w.-]+):predictLongRunning$/, (model) => ({ name: `models/${model}/operations/${order()}` })],
    [
      /^GET \/v1beta\/models\/[\w.-]+\/operations\/([\w-]+)$/,
      (id) => {
        const filtered = { raiMediaFilteredCount: 1, raiMediaFilteredReasons: [jobs.get(id)?.reason ?? ''] }
        const samples = { generatedSamples: links(id).map((uri) => ({ video: { uri: uri.replace('/files/', '/keyed/') } })) }
        if (word(id, ['', '', 'done', 'failed']) === '') return { name: id }
        return { name: id, done: true, response: { generateVideoResponse: isDone(id) ? samples : filtered } }
      },
    ],
    // Seedance at Ark
    [/^POST \/api\/v3\/contents\/generations\/tasks()$/, () => ({ id: order() })],
    [
      /^GET \/api\/v3\/contents\/generations\/tasks\/([\w-]+)$/,
      (id) => ({
        id,
        status: word(id, ['queued', 'running', 'succeeded', 'failed']),
        ...(isDone(id) ? { content: { video_url: links(id)[0] }, duration: jobs.get(id)?.seconds } : {}),
        error: { code: 'OutputVideoSensitiveContentDetected', message: jobs.get(id)?.reason },
      }),
    ],
    // Kling
    [/^POST \/v1\/videos\/(?:text2video|image2video|multi-image2video)()$/, () => ({ code: 0, data: { task_id: order() } })],
    [
      /^GET \/v1\/videos\/(?:text2video|image2video)\/([\w-]+)$/,
      (id) => ({
        code: 0,
        data: {
          task_status: word(id, ['submitted', 'processing', 'succeed', 'failed']),
          task_status_msg: jobs.get(id)?.reason,
          task_result: {
            videos: isDone(id) ? links(id).map((url) => ({ url, duration: String(jobs.get(id)?.seconds ?? '') })) : [],
          },
        },
      }),
    ],
    // Wan at DashScope
    [/^POST \/api\/v1\/services\/aigc\/video-generation\/video-synthesis()$/, () => ({ output: { task_id: order() } })],
    [
      /^GET \/api\/v1\/tasks\/([\w-]+)$/,
      (id) => ({
        output: {
          task_status: has(id) ? word(id, ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED']) : 'UNKNOWN',
          message: jobs.get(id)?.reason,
          ...(isDone(id) ? { video_url: links(id)[0] } : {}),
        },
        usage: { video_duration: jobs.get(id)?.seconds },
      }),
    ],
    // MiniMax at both versions
    [/^POST \/v[12]\/video_generation()$/, () => ({ task_id: order(), base_resp: { status_code: 0, status_msg: 'success' } })],
    [
      /^GET \/v1\/query\/video_generation\?task_id=([\w-]+)$/,
      (id) => ({ status: word(id, ['Queueing', 'Processing', 'Success', 'Fail']), file_id: id, base_resp: { status_code: 0 } }),
    ],
    [/^GET \/v1\/files\/retrieve\?file_id=([\w-]+)$/, (id) => ({ file: { download_url: links(id)[0] } })],
    [
      /^GET \/v2\/query\/video_generation\/([\w-]+)$/,
      (id) => ({
        status: word(id, ['queued', 'running', 'succeeded', 'failed']),
        video: isDone(id) ? { url: links(id)[0] } : {},
      }),
    ],
    // Vidu
    [/^POST \/ent\/v2\/\w[\w-]+()$/, () => ({ task_id: order(), state: 'created' })],
    [
      /^GET \/ent\/v2\/tasks\/([\w-]+)\/creations$/,
      (id) => ({
        state: word(id, ['created', 'processing', 'success', 'failed']),
        creations: isDone(id) ? [{ url: links(id)[0] }] : [],
        err_code: jobs.get(id)?.reason,
      }),
    ],
    // Grok
    [/^POST \/v1\/videos\/generations()$/, () => ({ request_id: order() })],
    [
      /^GET \/v1\/videos\/(job-\d+)$/,
      (id) => ({
        status: word(id, ['pending', 'pending', 'done', 'failed']),
        ...(isDone(id) ? { video: { url: links(id)[0], respect_moderation: true } } : {}),
        error: { message: jobs.get(id)?.reason },
      }),
    ],
    // OpenAI
    [/^POST \/v1\/videos()$/, () => ({ id: `video_${order()}`, status: 'queued' })],
    [
      /^GET \/v1\/videos\/video_([\w-]+)$/,
      (id) => ({
        status: word(id, ['queued', 'in_progress', 'completed', 'failed']),
        progress: 40,
        error: { code: 'moderation_blocked', message: jobs.get(id)?.reason },
      }),
    ],
    // Gateways of the family
    [/^POST \/v1\/video\/generations()$/, () => ({ task_id: order(), status: 'queued' })],
    [
      /^GET \/v1\/video\/generations\/([\w-]+)$/,
      (id) => ({
        code: 'success',
        data: {
          task_id: id,
          status: word(id, ['queued', 'processing', 'succeeded', 'failed']),
          url: isDone(id) ? links(id)[0] : '',
          error: { message: jobs.get(id)?.reason },
        },
      }),
    ],
  ]

  const answer = (response: ServerResponse, { status = 200, json }: { status?: number; json: unknown }) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))

  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { method = '', url: path = '', headers } = request
    const one: Asked = { method, path, headers, body: text === '' ? {} : JSON.parse(text) }
    asked.push(one)
    const programmed = peer.program?.(one)
    if (programmed) return void answer(response, programmed)
    const isKeyed = path.startsWith('/keyed/') || path.endsWith('/content')
    if (isKeyed && !headers.authorization && !headers['x-goog-api-key'])
      return void answer(response, { status: 401, json: { error: { message: 'no key' } } })
    if (path.startsWith('/keyed/')) return void response.writeHead(302, { location: path.replace('/keyed/', '/files/') }).end()
    if (path.startsWith('/files/') || isKeyed) return sendFile(request, response)
    for (const [pattern, write] of vendors) {
      const found = pattern.exec(`${method} ${path}`)
      if (found) return void answer(response, { json: write(found[1] ?? '', one.body) })
    }
    answer(response, { status: 404, json: { error: { message: `no such path: ${method} ${path}` } } })
  })
  peer.url = await listening(server, 0)
  return Object.assign(peer, {
    asked,
    jobs,
    /** The id of the last order at its vendor. */
    last: () => `job-${peer.made}`,
    tell: (id: string, job: Job) => void jobs.set(id, job),
    orders: () => asked.filter(({ method }) => method === 'POST'),
    stop: () => closing(server),
  })
}

function sendFile({ headers }: IncomingMessage, response: ServerResponse): void {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? '') ?? []
  const whole = { 'content-type': 'video/mp4', 'accept-ranges': 'bytes', server: 'vendor-cdn', 'x-vendor': 'secret' }
  if (from === undefined) {
    response.writeHead(200, { ...whole, 'content-length': clipBytes.length }).end(clipBytes)
    return
  }
  const last = to ? Math.min(Number(to), clipBytes.length - 1) : clipBytes.length - 1
  const part = clipBytes.subarray(Number(from), last + 1)
  const range = `bytes ${from}-${last}/${clipBytes.length}`
  response.writeHead(206, { ...whole, 'content-length': part.length, 'content-range': range }).end(part)
}
