import type { AgreedClip } from '../../../../contract/video-price.ts'
import { type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import type { Upstream } from '../upstream.ts'

/**
 * What a vendor of clips has for itself: how an order is written, how a job is asked for, and what its answers mean. One declaration
 * for each interface; the engine of `tasks` does everything else. Pure.
 */
export interface VideoVendor {
  /** Whether it makes clips with this model, where it also has other models. */
  serves?(model: string): boolean
  /** How many clips one order may make; 1 if absent. */
  readonly piecesMax?: number
  /** Pictures must be sent as bytes: an address in the request is fetched first. */
  readonly needsBytes?: true
  /** Members of the request beyond those of `OrderedClip` that are passed as they are. None of them may change the price. */
  readonly passes: readonly string[]
  /** The headers that authorize a call; a bearer key if absent. A short-lived token stands in place of the key. */
  headers?(channel: Upstream): Record<string, string>
  order(channel: Upstream, clip: OrderedClip): VideoRequest
  /** The vendor's id of the job. */
  accepted(reply: JsonObject): string | JobRefused
  query(channel: Upstream, job: VideoJob): VideoRequest
  read(reply: JsonObject, channel: Upstream, job: VideoJob): JobState
  /** The bytes of a clip in base64, for a vendor whose reports have them. */
  inline?(reply: JsonObject, index: number): string
}

/** What is sent to a vendor: the agreed clip with the texts and pictures of the request. */
export interface OrderedClip extends AgreedClip {
  /** The vendor's name of the model. */
  readonly model: string
  readonly prompt: string
  readonly negativePrompt: string
  /** `16:9`; '' leaves it to the vendor. */
  readonly ratio: string
  readonly seed: number | undefined
  /** The picture that the clip begins with, and the one that it ends with. */
  readonly first: Picture | undefined
  readonly last: Picture | undefined
  /** Pictures that show what is to be seen, not a frame. */
  readonly references: readonly Picture[]
  /** The members of `passes` that the request has. */
  readonly more: JsonObject
}

export type Picture =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'bytes'; readonly base64: string; readonly mediaType: string }

/** A job at its vendor, as it is stored. `action`: what `actionOf` made of the order. */
export interface VideoJob {
  readonly id: string
  readonly model: string
  readonly action: VideoAction
}

/** Whether a clip is made from a text alone. Some vendors have a path for each. */
export type VideoAction = 'TEXT' | 'IMAGE' | 'REFERENCE'

export interface VideoRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** Besides those that authorize it. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: JsonObject
}

interface JobRefused {
  readonly code: string
  readonly reason: string
  /** The account of the channel is at fault: another channel may take the order. */
  readonly isChannels?: true
}

/** A vendor's report on a job. */
export type JobState =
  | { readonly state: 'queued' | 'running'; readonly percent?: number | undefined }
  | { readonly state: 'failed'; readonly reason: string }
  | {
      readonly state: 'done'
      readonly files: readonly ClipFile[]
      /** The length of each clip, where the vendor reports it. */
      readonly seconds?: number | undefined
    }
  /** The report has the bytes of the clips: it is asked for again when they are read. */
  | { readonly state: 'done-inline'; readonly pieces: number }
  /** Neither a state nor an end: it is asked for again. */
  | { readonly state: 'unknown' }

/** Where the vendor has a clip. */
export interface ClipFile {
  readonly url: string
  /** The address needs the key of the channel. */
  readonly isKeyed?: true
  /** It answers with an object that has the address of the file at this path. */
  readonly pointer?: readonly [string, string]
}

export function actionOf({ first, last, references }: Pick<OrderedClip, 'first' | 'last' | 'references'>): VideoAction {
  if (first || last) return 'IMAGE'
  return references.length > 0 ? 'REFERENCE' : 'TEXT'
}

/** The address of a picture, or its bytes as a data URL. */
export function pictureUrl(picture: Picture): string {
  return picture.kind === 'url' ? picture.url : `data:${picture.mediaType};base64,${picture.base64}`
}

/** The bytes of a picture in base64, or its address: for vendors that take either in one member. */
export function pictureText(picture: Picture): string {
  return picture.kind === 'url' ? picture.url : picture.base64
}

/** Only the members that have a value. */
export function given(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== ''))
}

/** The error of a reply as vendors write it: an object, or texts beside it. */
export function reasonIn(reply: JsonObject): JobRefused {
  const error = objectAt(reply, 'error')
  const code = reply.code ?? error?.code
  return {
    code: typeof code === 'string' || typeof code === 'number' ? String(code).slice(0, 100) : '',
    reason: (error && textAt(error, 'message')) || textAt(reply, 'message') || textAt(reply, 'error') || textAt(reply, 'msg'),
  }
}

/** The first of the members that is a number; vendors write lengths as numbers and as texts. */
export function secondsIn(object: JsonObject | undefined, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = Number(object?.[name] ?? Number.NaN)
    if (Number.isFinite(value) && value > 0 && value < 1e6) return value
  }
  return undefined
}
