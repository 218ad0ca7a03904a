import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { closing, listening } from './listening.ts'

type Json = Record<string, unknown>

interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Json
}

/** Answers in place of the peer; undefined leaves it to the peer, `cut` breaks the connection. */
type Program = (asked: Asked) => { status?: number; json?: unknown; bytes?: Buffer; type?: string } | 'cut' | undefined

/** The smallest valid image. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** A proxy for Midjourney and a music service in one server on loopback. Tests set the state of tasks. */
export interface TaskPeer {
  readonly url: string
  readonly asked: Asked[]
  /** The reported state of each task, by its id. */
  readonly tasks: Map<string, Json>
  program: Program | undefined
  /** Sets the reported state of a task. */
  tell(id: string, more: Json): void
  stop(): Promise<void>
}

export async function startTaskPeer(port = 0): Promise<TaskPeer> {
  const tasks = new Map<string, Json>()
  const asked: Asked[] = []
  let made = 0
  const peer: { program: Program | undefined } = { program: undefined }

  const answer = (response: ServerResponse, value: unknown, status = 200) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  const known = (ids: unknown) => (Array.isArray(ids) ? ids.flatMap((id) => tasks.get(String(id)) ?? []) : [])

  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const one: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? {} : JSON.parse(text),
    }
    asked.push(one)
    const programmed = peer.program?.(one)
    if (programmed === 'cut') return void request.socket.destroy()
    if (programmed?.bytes)
      return void response.writeHead(200, { 'content-type': programmed.type ?? 'image/png' }).end(programmed.bytes)
    if (programmed) return void answer(response, programmed.json, programmed.status)
    if (one.path.endsWith('/task/list-by-condition')) return void answer(response, known(one.body.ids))
    if (one.path === '/suno/fetch') return void answer(response, { code: 'success', message: '', data: known(one.body.ids) })
    if (one.path.endsWith('/image-seed')) return void answer(response, { code: 1, description: 'ok', result: '777' })
    if (one.path.endsWith('.png')) return void response.writeHead(200, { 'content-type': 'image/png' }).end(png)
    if (one.path.startsWith('/suno/submit/')) {
      const id = `song-${++made}`
      tasks.set(id, { task_id: id, status: 'SUBMITTED', progress: '0%', fail_reason: '' })
      return void answer(response, { code: 'success', message: '', data: id })
    }
    if (one.path.endsWith('/upload-discord-images'))
      return void answer(response, { code: 1, description: 'ok', result: ['https://cdn.example/1.png'] })
    const id = `${1_700_000_000_000 + ++made}`
    tasks.set(id, { id, status: 'SUBMITTED', progress: '0%', failReason: '' })
    answer(response, { code: 1, description: 'Submit success', result: id, properties: {} })
  })
  return Object.assign(peer, {
    url: await listening(server, port),
    asked,
    tasks,
    tell: (id: string, more: Json) => void tasks.set(id, { ...tasks.get(id), id, task_id: id, ...more }),
    stop: () => closing(server),
  })
}
