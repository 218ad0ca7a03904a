import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Dialect, dialects, type ToolOffer, type Turn } from './dialects.ts'

/**
 * A simulated model for programs that work on files: asked for a task with tools, it runs one command with the first tool that takes
 * one, reads the result, and says that it is done. Without tools (titles, summaries) it answers in a sentence. It speaks the native
 * protocol of its vendor and keeps what it was asked.
 */
export interface ModelServer {
  readonly url: string
  readonly asked: { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[]
  /** From now on, requests with a text of at least so many characters are refused as too long, in the words of the vendor. */
  refuseAbove(characters: number): void
  stop(): Promise<void>
}

export const done = 'The file is written.'
export const summary = 'Summary: a file was to be written.'

export async function startModel(name: keyof typeof dialects, command: string): Promise<ModelServer> {
  const asked: ModelServer['asked'] = []
  let limit = Number.POSITIVE_INFINITY
  const server = createServer(async (request, response) => {
    const raw = await text(request)
    const path = request.url ?? '/'
    const dialect: Dialect | undefined = dialects[name].find((each) => each.path.test(path))
    if (!dialect || request.method !== 'POST') return reply(response, 404, { error: { message: `No route for ${path}` } })
    const body = JSON.parse(raw)
    asked.push({ path, body })
    if (raw.length > limit) {
      const { status, body: refusal } = dialect.tooLong(Math.round(raw.length / 4), Math.round(limit / 4))
      return reply(response, status, refusal)
    }
    const turn = nextTurn(dialect, body, command)
    const { type, text: written } = dialect.write(turn, body, path)
    response.writeHead(200, { 'content-type': type }).end(written)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // It listens on a port, not on a pipe.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    refuseAbove: (characters) => {
      limit = characters
    },
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function nextTurn(dialect: Dialect, body: Readonly<Record<string, unknown>>, command: string): Turn {
  const { tools, hasResult } = dialect.read(body)
  const tool = tools.find(takesCommand)
  if (tool && !hasResult) return { text: '', call: { name: tool.name, namespace: tool.namespace, input: inputOf(tool, command) } }
  return { text: tools.length > 0 ? done : summary }
}

const commandMembers = ['command', 'cmd'] as const

function takesCommand({ properties }: ToolOffer): boolean {
  return commandMembers.some((member) => Object.hasOwn(properties, member))
}

/** What the schema requires, with the command where it belongs. */
function inputOf({ properties, required }: ToolOffer, command: string): Record<string, unknown> {
  const member = commandMembers.find((name) => Object.hasOwn(properties, name)) ?? 'command'
  const isList = JSON.stringify(properties[member]).includes('"array"')
  const others = required.filter((name) => name !== member).map((name) => [name, 'Write a file'])
  return { ...Object.fromEntries(others), [member]: isList ? ['bash', '-lc', command] : command }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
