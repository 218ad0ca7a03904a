import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { closing, listening } from '../helpers/listening.ts'
import { type Dialect, dialects, type ToolOffer, type Turn } from './dialects.ts'

/**
 * A simulated model for programs that work on files: for a task with tools, it runs a command with the first suitable tool, as often
 * as requested, and then reports that it is done; it does the same after a summary of the conversation. Without tools, or when a
 * summary is requested, it answers with one. It implements the native protocol of its vendor and records its requests.
 */
export interface ModelServer {
  readonly url: string
  readonly asked: Asked[]
  /**
   * Begins a task: the command of each call, the number of calls, the number of characters above which a request is refused as too
   * long, and the failures of the first requests.
   */
  begin(task: Task): void
  stop(): Promise<void>
}

interface Asked {
  readonly body: Readonly<Record<string, unknown>>
  readonly isRefused: boolean
}

interface Task {
  readonly command: string
  readonly calls: number
  readonly charactersMax?: number
  /** What happens to the first requests with tools, one failure after the other. */
  readonly failures?: readonly Failure[]
}

/** The stream ends in the middle of an event, or the vendor refuses the request because of its load. */
type Failure = 'cut' | 'overload'

export const done = 'The file is written.'
export const summary = 'Summary: a file was to be written.'

export async function startModel(name: keyof typeof dialects): Promise<ModelServer> {
  const asked: Asked[] = []
  let task: Task = { command: 'true', calls: 1 }
  let failures: Failure[] = []
  const server = createServer(async (request, response) => {
    const raw = await text(request)
    const path = request.url ?? '/'
    const dialect: Dialect | undefined = dialects[name].find((each) => each.path.test(path))
    if (!dialect || request.method !== 'POST') return reply(response, 404, { error: { message: `No route for ${path}` } })
    const body = JSON.parse(raw)
    const { charactersMax = Number.POSITIVE_INFINITY } = task
    const isRefused = raw.length > charactersMax
    asked.push({ body, isRefused })
    if (isRefused) {
      const refusal = dialect.tooLong(tokensOf(raw), Math.round(charactersMax / 4))
      return reply(response, refusal.status, refusal.body)
    }
    const turn = nextTurn(dialect, body, task)
    const failure = turn.call ? failures.shift() : undefined
    if (failure === 'overload') return reply(response, dialect.overload.status, dialect.overload.body)
    const { type, text: written } = dialect.write(turn, { body, path, tokens: tokensOf(raw) })
    response.writeHead(200, { 'content-type': type })
    if (failure === 'cut') return response.write(written.slice(0, written.length / 2), () => response.destroy())
    return response.end(written)
  })
  return {
    url: await listening(server),
    asked,
    begin: (next) => {
      task = next
      failures = [...(next.failures ?? [])]
      asked.length = 0
    },
    stop: () => closing(server),
  }
}

/** For this model a token is four characters. */
const tokensOf = (raw: string) => Math.round(raw.length / 4)

function nextTurn(dialect: Dialect, body: Readonly<Record<string, unknown>>, { command, calls }: Task): Turn {
  const { tools, results, lastText } = dialect.read(body)
  const tool = tools.find(takesCommand)
  if (!tool || /create a (detailed|handoff) summary|checkpoint compaction/i.test(lastText)) return { text: summary }
  if (results >= calls || JSON.stringify(body).includes(summary)) return { text: done }
  return { text: '', call: { name: tool.name, namespace: tool.namespace, input: inputOf(tool, command) } }
}

const commandMembers = ['command', 'cmd'] as const

function takesCommand({ properties }: ToolOffer): boolean {
  return commandMembers.some((member) => Object.hasOwn(properties, member))
}

/** The members that the schema requires, with the command inserted. */
function inputOf({ properties, required }: ToolOffer, command: string): Record<string, unknown> {
  const member = commandMembers.find((name) => Object.hasOwn(properties, name)) ?? 'command'
  const isList = JSON.stringify(properties[member]).includes('"array"')
  const others = required.filter((name) => name !== member).map((name) => [name, 'Write a file'])
  return { ...Object.fromEntries(others), [member]: isList ? ['bash', '-lc', command] : command }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
