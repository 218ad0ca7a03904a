import type { callerFormats, socketFormats, storeFormats, upstreamFormats } from '../../../contract/formats.ts'

/** A wire format of callers: the dialect and the endpoint. Each name of this file has its declaration in `index.ts`. */
export type CallerFormat = keyof typeof callerFormats

/** A format of callers in which the tokens of a prompt are counted. */
export type CountFormat = Extract<CallerFormat, 'anthropic.count_tokens' | 'gemini.count_tokens' | 'openai.input_tokens'>

/** A format whose answers can be read, cancelled and deleted by their ids. */
export type StoredFormat = Extract<CallerFormat, 'openai.responses' | 'gemini.interactions'>

/** A wire format of upstreams that no caller speaks. */
type UpstreamFormat = keyof typeof upstreamFormats

/** A session over an open WebSocket instead of a request and a reply. */
type SocketFormat = keyof typeof socketFormats

/** Orders of drawings, music and clips, which run asynchronously; handled by `tasks`. */
export type TaskFormat = 'drawing' | 'music' | 'video'

/** What a vendor stores for its callers besides answers: files and batches. */
export type StoreFormat = keyof typeof storeFormats

/** The formats in which a channel can be called. */
export type ChannelFormat = CallerFormat | SocketFormat | TaskFormat | StoreFormat

export type Format = ChannelFormat | UpstreamFormat

/** A dialect decides how errors, request ids and heartbeats look to the caller. */
export type Dialect = FileDialect | Exclude<TaskFormat, 'video'>

/** A dialect whose vendor stores files for its callers. */
export type FileDialect = 'openai' | 'anthropic' | 'gemini'
