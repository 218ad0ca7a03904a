import type { AnsweredModel } from '../../protocols/answered-model.ts'
import type { Dialogue } from '../../protocols/dialogue.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import type { ChannelAttempt } from '../try-channels/try-channels.ts'
import type { RequestMedia } from '../upstream/fetch-media.ts'
import type { WrittenFacts } from './adapter.ts'

/** State that the attempts of one request share. */
export interface SharedByAttempts {
  /** Media that the request references by URL, once an attempt needed them. */
  media?: RequestMedia
  /** The request in its neutral form, once an attempt needed it. */
  dialogue?: Dialogue
  /** An upstream has refused the reasoning of earlier turns; further attempts omit it. */
  leavesReasoning?: boolean
  /** The seal of the last reasoning in the neutral form, with the state that the caller could not send. */
  lastSeal?: string
  /** The account that has answered, if its reply names it. */
  account?: string | undefined
}

/** One attempt on one channel, before the request to the channel is written. */
export interface BegunAttempt extends ChannelAttempt {
  readonly request: AdmittedRequest
  readonly shared: SharedByAttempts
}

/** One attempt on one channel, and its state so far. */
export interface AttemptState extends BegunAttempt, WrittenFacts {
  /** Which model the reply says has answered. */
  readonly answered: AnsweredModel
  /** The response that the upstream stores, once its id is read. Only `store-answer.ts` writes it. */
  response?: NotedResponse
}

/** A response that the upstream stores. */
export interface NotedResponse {
  /** Its key among the stored ids, and its id as the vendor names it. */
  readonly id: string
  readonly name: string
  /** Ids of its completed items. */
  readonly items: string[]
  /** Resolves when the row of a background response is durable; absent for a response that ends with its answer. */
  readonly written?: Promise<void>
  /** Resolves when it is durable, or too late, where the response lies: the charge waits for it. Never rejects. */
  readonly placed?: Promise<void>
}
