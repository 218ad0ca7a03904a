import type { z } from 'zod'
import type { OrganisationCaller } from './organisation-roles.ts'

/** The access rule of a console route. */
export type Access = 'public' | 'user' | 'admin' | 'root'

/**
 * One console call. Its key is the line itself (`'POST /api/token/'`), which names it everywhere: handler table, web `call`, OpenAPI,
 * logs, tests. `extra` are fields beside `data` in the envelope. `limit` names a declared request limit. `writes` marks a GET that
 * changes state, kept for compatible clients in addition to its POST equivalent; other methods always write.
 */
export interface Route {
  readonly access: Access
  readonly summary: string
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  readonly reply: z.ZodType
  readonly extra?: z.ZodObject
  /**
   * Who may make the call for an organisation: that of the path, below `/api/organisation/:id`, else the one that the header
   * `x-organisation-id` names. Absent: the call is about the caller, and refuses the header.
   */
  readonly roles?: readonly OrganisationCaller[]
  readonly limit?: 'login' | 'critical' | 'money'
  readonly writes?: true
  /** Browsers and proxies may cache a public answer for this time, unless its caller is signed in. */
  readonly cacheSeconds?: number
  /** The body is passed as raw text, whatever its content type: other servers sign it, or send forms. At most 512 KB. */
  readonly bodyAs?: 'text'
  /**
   * The answer is text of this type without an envelope, streamed in chunks; a `fileName` makes it a download. `refusal` is the
   * complete text of every refusal, for peers that would misread an envelope.
   */
  readonly text?: {
    readonly type: 'text/csv' | 'text/plain' | 'application/x-ndjson' | 'image/svg+xml' | 'application/rss+xml'
    readonly fileName?: string
    /** Pages of other sites may embed it. */
    readonly isEmbedded?: true
    readonly refusal?: string
  }
}

/** The query parameter with the caller's id in the link of a download: links send no headers. */
export const userOfLink = 'new_api_user'

export type Routes = Readonly<Record<string, Route>>

export function routes<const T extends Routes>(table: T): T {
  return Object.freeze(table)
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined
type Given<S> = S extends z.ZodType ? z.input<S> : undefined

/** The validated input of a handler. */
export interface Received<R extends Route> {
  readonly params: Parsed<R['params']>
  readonly query: Parsed<R['query']>
  readonly body: Parsed<R['body']>
}

/** The input of a call; a part that the route does not declare cannot be sent. */
export type Sent<R extends Route> = (R['params'] extends z.ZodType ? { params: Given<R['params']> } : { params?: undefined }) &
  (R['query'] extends z.ZodType ? { query?: Given<R['query']> } : { query?: undefined }) &
  (R['body'] extends z.ZodType ? { body: Given<R['body']> } : { body?: undefined })

/** The result of a handler: the data, the data with the declared extra fields, or the chunks of a text. */
type Answer<R extends Route> = R['text'] extends object
  ? AsyncIterable<string>
  : R['extra'] extends z.ZodType
    ? { data: z.input<R['reply']>; extra: z.input<R['extra']> }
    : z.input<R['reply']>

/** The `data` of an answer. */
export type Reply<R extends Route> = z.output<R['reply']>
export type Extra<R extends Route> = R['extra'] extends z.ZodType ? z.output<R['extra']> : Record<never, never>

/** The handler table of a route table: a missing or misspelt line does not compile. */
export type Handlers<T extends Routes, Context> = {
  readonly [Line in keyof T]: (context: Context, input: Received<T[Line]>) => Promise<Answer<T[Line]>> | Answer<T[Line]>
}

/** Splits `'GET /api/token/:id'` into its method and path. */
export function parseLine(line: string): { method: string; path: string } {
  const space = line.indexOf(' ')
  return { method: line.slice(0, space), path: line.slice(space + 1) }
}
