import { z } from 'zod'
import type { Text } from '../text.ts'

/**
 * Recordings of relay calls. A rule selects the recorded calls: those of a token, of a user, those that reach a channel, or a share
 * of all. Every rule has an end.
 */
export const recordingKinds = ['token', 'user', 'channel', 'share'] as const
export type RecordingKind = (typeof recordingKinds)[number]

export const recordingKindLabels: Readonly<Record<RecordingKind, Text>> = {
  token: { zh: '令牌', en: 'Token' },
  user: { zh: '用户', en: 'User' },
  channel: { zh: '渠道', en: 'Channel' },
  share: { zh: '全站', en: 'Whole site' },
}

/** How far ahead the end of a rule may be. */
export const recordingDaysMax = 30

const share = z.int().min(1).max(1000)
/** Unix seconds; 0 ends the rule. */
const until = z.int().min(0).max(1e11)

export const recordingRuleInput = z.object({
  kind: z.enum(recordingKinds),
  /** The id of the token, user or channel; 0 for a share of all calls. */
  target: z.int().min(0),
  /** Calls in a thousand. */
  per_mille: share.default(1000),
  until,
})
export type RecordingRuleInput = z.output<typeof recordingRuleInput>

export const recordingRule = z.object({
  kind: z.enum(recordingKinds),
  target: z.int(),
  /** The name of the token, user or channel; '' where it is gone, and for a share of all calls. */
  name: z.string(),
  per_mille: share,
  until,
  created_by: z.string(),
  created_at: z.int(),
})
export type RecordingRule = z.output<typeof recordingRule>

export const ownRecordingInput = z.object({ until })

/** The recording status of a user's calls; times are unix seconds, 0 without a recording. */
export const ownRecording = z.object({
  /** All calls of the user. */
  user_until: z.int(),
  tokens: z.array(z.object({ id: z.int(), until: z.int() })),
  /** The end of the rules that record only some calls: a share of all, or those that reach a channel. */
  some_until: z.int(),
})
export type OwnRecording = z.output<typeof ownRecording>

const headers = z.array(z.tuple([z.string(), z.string()]))

const body = z.object({
  /** The beginning of the body: as text, or in base64 when it is not text. */
  text: z.string(),
  encoding: z.enum(['text', 'base64']),
  /** The length of the complete body. */
  bytes: z.int(),
  is_cut: z.boolean(),
})
export type RecordedBody = z.output<typeof body>

const request = z.object({ method: z.string(), url: z.string(), headers, body })
const reply = z.object({ status: z.int(), headers, body })
export type RecordedRequest = z.output<typeof request>
export type RecordedReply = z.output<typeof reply>

/** The chunks of a reply, and the pauses between them in milliseconds. */
const pieces = z.object({ count: z.int(), longest_gap_ms: z.int(), mean_gap_ms: z.int() })
export type RecordedPieces = z.output<typeof pieces>

/** The durations of the steps of a call, in milliseconds. */
const timing = z.object({
  /** Waiting for limits and for the body. */
  queue_ms: z.int(),
  hold_ms: z.int(),
  /** From the arrival to the first byte of the reply (-1: none came), and to the end of the call. */
  first_byte_ms: z.int(),
  duration_ms: z.int(),
  /** The time that it took to commit the charge. */
  commit_ms: z.int(),
})
export type RecordedTiming = z.output<typeof timing>

/** The caller's side of a call. */
const callerSide = z.object({ request, reply: reply.nullable(), timing, pieces })
export type CallerSide = z.output<typeof callerSide>

/** One exchange with an upstream. Times are milliseconds since the arrival of the call; -1 for a step that did not happen. */
const upstreamExchange = z.object({
  channel: z.int(),
  key: z.int(),
  request,
  reply: reply.nullable(),
  started_ms: z.int(),
  /** When the request had a connection. */
  sent_ms: z.int(),
  /** When the status and headers of the reply had arrived. */
  head_ms: z.int(),
  first_byte_ms: z.int(),
  ended_ms: z.int(),
  /** Why it failed; '' when it was answered. */
  failure: z.string(),
  pieces,
})
export type UpstreamExchange = z.output<typeof upstreamExchange>

export const ownRecordedCall = z.object({
  request_id: z.string(),
  created_at: z.int(),
  /** Unix seconds of its deletion. */
  expires_at: z.int(),
  caller: callerSide,
})
/** A recording as super admins see it: only they see `upstream`. */
export const recordedCall = ownRecordedCall.extend({
  user_id: z.int(),
  upstream: z.array(upstreamExchange),
})
export type OwnRecordedCall = z.output<typeof ownRecordedCall>
export type RecordedCall = z.output<typeof recordedCall>
