import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { DatabaseKind } from '../helpers/databases.ts'
import { sharedStages } from './shared-stage.ts'
import { httpUpstream, stage } from './stage.ts'

/** One request that a simulated vendor got. */
interface Heard {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  /** The parsed JSON; an empty object for any other content. */
  readonly body: Record<string, unknown>
}

/** The reply of the vendor: JSON, or bytes with a content type. When it is undefined, the vendor never answers. */
export type ProgrammedReply =
  | { json: unknown; status?: number }
  | { bytes: string | Buffer; type: string; status?: number }
  | undefined

type Answer = (heard: Heard, count: number) => ProgrammedReply | Promise<ProgrammedReply>

/**
 * A server with a channel to a vendor of the given type, whose models have the given prices: ratios for tokens, or dollars for a
 * call.
 */
export async function directStage(
  kind: DatabaseKind,
  answer: Answer,
  more: { channel: Record<string, unknown>; ratios?: Record<string, number>; prices?: Record<string, number> },
) {
  const staged = await beforeVendor(answer, (url) => stage(kind, url, { channel: more.channel }))
  const save = (key: string, value: Record<string, number>) =>
    staged.server.call('PUT /api/option/', { key, value: JSON.stringify(value) })
  if (more.ratios) await save('ModelRatio', more.ratios)
  if (more.prices) await save('ModelPrice', more.prices)
  return { ...staged, save }
}

/** The same on one shared server with these options. */
export function sharedDirectStages(...server: Parameters<typeof sharedStages>) {
  const sharedStage = sharedStages(...server)
  return (answer: Answer, channel: Record<string, unknown>) => beforeVendor(answer, (url) => sharedStage(url, channel))
}

async function beforeVendor(answer: Answer, open: (url: string) => ReturnType<typeof stage>) {
  const heard: Heard[] = []
  const url = await httpUpstream(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    const isJson = String(request.headers['content-type']).includes('json') && bytes.length > 0
    const one: Heard = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      bytes,
      body: isJson ? JSON.parse(bytes.toString()) : {},
    }
    heard.push(one)
    tell(response, await answer(one, heard.length))
  })
  const staged = await open(url)

  const form = async (path: string, data: FormData, key = staged.token.key) => {
    const response = await fetch(staged.server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: data,
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { ...staged, url, heard, form }
}

function tell(response: ServerResponse, told: ProgrammedReply): void {
  if (!told) return
  const { status = 200 } = told
  const [type, body] = 'json' in told ? ['application/json', JSON.stringify(told.json)] : [told.type, told.bytes]
  response.writeHead(status, { 'content-type': type })
  response.end(body)
}

/** Lets fetches of untrusted addresses reach the loopback address, as if it were the public internet. */
export function openLoopback(server: { app: { upstream: object } }): void {
  Object.assign(server.app.upstream, {
    untrusted: {
      allowsPort: () => true,
      allows: () => true,
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    },
  })
}
