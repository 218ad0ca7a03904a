import { z } from 'zod'
import { nameText } from '../name-text.ts'
import { bodyRules, headerOverrides } from './channel-overrides.ts'
import { channelPriorityMin, channelStatus } from './channel-status.ts'

/** Endpoints that an upstream may lack although the type of its channel has them. */
export const optionalEndpoints = ['responses', 'completions', 'embeddings', 'decisions', 'interactions', 'files'] as const
export type OptionalEndpoint = (typeof optionalEndpoints)[number]

/** A channel as admins see it, without its key. Texts named `…mapping`, `setting`, `other_info` hold JSON. */
export const channel = z.object({
  id: z.int(),
  type: z.int(),
  key: z.literal(''),
  name: z.string(),
  status: z.int(),
  openai_organization: z.string(),
  test_model: z.string(),
  max_input_tokens: z.int(),
  base_url: z.string(),
  other: z.string(),
  models: z.string(),
  group: z.string(),
  model_mapping: z.string(),
  status_code_mapping: z.string(),
  setting: z.string(),
  priority: z.int(),
  weight: z.int(),
  auto_ban: z.int(),
  tag: z.string(),
  other_info: z.string(),
  created_time: z.int(),
  test_time: z.int(),
  response_time: z.int(),
  /** Why the last test failed: the status (0 without an answer), a space and the reason; '' when it passed. */
  test_failure: z.string(),
  balance: z.number(),
  balance_updated_time: z.int(),
  used_quota: z.int(),
  /** The number of keys, and of enabled keys. */
  keys_total: z.int(),
  keys_enabled: z.int(),
  /** Endpoints that its upstream was found to lack, and when; calls to them are translated. */
  lacking: z.array(z.object({ endpoint: z.enum(optionalEndpoints), since: z.int() })),
  /** Tokens that its upstream was found to add to prompts, by model; held with each of its calls. */
  prompt_additions: z.record(z.string(), z.int()),
  /** Its models that end, the earliest first, and what the vendor recommends instead ('' for nothing). */
  model_ends: z.array(z.object({ model: z.string(), date: z.string(), successor: z.string() })),
})
export type Channel = z.output<typeof channel>

/** One key of a channel as admins see it: never the key itself. A status of 3 comes with the reason and the time. */
export const channelKey = z.object({
  id: z.int(),
  /** `…` and the last four characters. */
  tail: z.string(),
  status: z.int(),
  status_reason: z.string(),
  status_time: z.int(),
  created_time: z.int(),
})
export type ChannelKey = z.output<typeof channelKey>

/** The value of `model_mapping`: from the requested model to the upstream model. */
export const modelMapping = z.record(z.string().min(1).max(255), z.string().min(1).max(255))

const statusText = /^[1-5]\d\d$/
/** The value of `status_code_mapping`: from the upstream's status to the status that replaces it. */
export const statusCodeMapping = z.record(
  z.string().regex(statusText),
  z.union([z.string().regex(statusText).transform(Number), z.int().min(100).max(599)]),
)

/** Headers of the caller that an operator may forward or withhold. `x-codex-turn-state` is also returned to the caller. */
export const passableHeaders = [
  'openai-organization',
  'openai-project',
  'anthropic-workspace-id',
  'anthropic-user-profile-id',
  'session_id',
  'x-codex-turn-state',
] as const
export type PassableHeader = (typeof passableHeaders)[number]

/**
 * Rules of families of models, which hold wherever a model is served: reasoning is sent back in the history, thinking is turned off
 * outside of streams, a call without its signature gets a placeholder, and ids of calls have nine letters and digits.
 */
export const modelRules = ['replay_reasoning', 'think_in_streams_only', 'call_signatures', 'short_call_ids'] as const
export type ModelRule = (typeof modelRules)[number]

/** The members of `setting`. Timeouts are in milliseconds; the gateway's default applies to absent ones. */
export const channelSetting = z
  .object({
    proxy: z.string().max(500),
    force_format: z.boolean(),
    /** The key selection of a multi-key channel: random, in turn, or one key for a whole conversation. */
    key_mode: z.enum(['random', 'round-robin', 'session']),
    /** For streams: without output within this time, the request fails over to another channel. */
    first_byte_timeout_ms: z.int().min(100).max(3_600_000),
    /**
     * Limits of the whole channel, over all nodes with Redis, otherwise per node: concurrent requests, and requests and tokens per
     * minute.
     */
    max_concurrency: z.int().min(1).max(1_000_000),
    max_requests_per_minute: z.int().min(1).max(1e9),
    max_tokens_per_minute: z.int().min(1).max(1e12),
    /** The greatest sum of charges for its requests within a day (UTC), on all nodes. In units. */
    max_quota_per_day: z.int().min(1).max(1e13),
    /** The upstream's price as a multiple of the model's price; compared where the cheapest channel is preferred. */
    cost_ratio: z.number().min(0).max(1000),
    /**
     * The upstream counts reasoning on top of the output limit of a request, or ignores the limit: the model's own limit applies
     * instead.
     */
    reasoning_beside_limit: z.boolean(),
    ignores_limits: z.boolean(),
    /**
     * The upstream adds to prompts (documents, searches, a prompt of its own): the model's whole context is held. False: it adds
     * nothing, and a longer prompt is implausible. Absent: as its address is known for, otherwise learnt.
     */
    adds_to_prompts: z.boolean(),
    param_override: bodyRules,
    header_override: headerOverrides,
    system_prompt: z.string().max(100_000),
    /** Prepended to the caller's own instructions, or added only if the caller sends none. */
    system_prompt_mode: z.enum(['prepend', 'fill']),
    thinking_to_content: z.boolean(),
    /** Refuses requests with hosted tools that its models lack, instead of leaving those out. */
    refuse_hosted_tools: z.boolean(),
    /** The caller's headers that are passed upstream; absent for all that cannot change the billing there. */
    passed_headers: z.array(z.enum(passableHeaders)).max(passableHeaders.length),
    /** Rules of model families that are switched off, or on for all models of the channel. Absent: as the model's name is known for. */
    model_rules: z.partialRecord(z.enum(modelRules), z.boolean()),
    /** Endpoints that the upstream does not have. */
    lacks_endpoints: z.array(z.enum(optionalEndpoints)).max(optionalEndpoints.length),
    connect_timeout_ms: z.int().min(100).max(600_000),
    headers_timeout_ms: z.int().min(100).max(3_600_000),
    idle_timeout_ms: z.int().min(100).max(3_600_000),
    total_timeout_ms: z.int().min(1000).max(86_400_000),
  })
  .partial()
export type ChannelSetting = z.output<typeof channelSetting>

/** Refuses NUL, which no database stores, and lone surrogates, which would not be read back unchanged. */
const text = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[^\0\p{Cs}]*$/u)
/** Absent and null both mean "unchanged". */
const nullAsAbsent = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? undefined)
const optionalText = (max: number) => nullAsAbsent(text(max))
/** Clients send it as a number or as text. */
const wholeNumber = (min: number, max: number) => z.coerce.number().transform(Math.trunc).pipe(z.int().min(min).max(max))
const looseInt = (min: number, max: number) => nullAsAbsent(wholeNumber(min, max))

const fields = {
  type: looseInt(1, 100_000),
  name: nullAsAbsent(text(100).transform(nameText)),
  key: optionalText(200_000),
  /** All lines of `key` are keys of this one channel. Otherwise a new channel is made for each. */
  multi_key: z.boolean(),
  openai_organization: optionalText(200),
  test_model: optionalText(255),
  max_input_tokens: looseInt(0, 1e9),
  base_url: optionalText(2000),
  other: optionalText(100_000),
  models: optionalText(200_000),
  /** Names separated by commas; `groups` is the same as a list and takes precedence. */
  group: optionalText(10_000),
  groups: nullAsAbsent(z.array(text(64)).max(500)),
  model_mapping: optionalText(200_000),
  status_code_mapping: optionalText(20_000),
  setting: optionalText(200_000),
  priority: looseInt(channelPriorityMin, 1e9),
  /** Negative weights are clamped to 0. */
  weight: nullAsAbsent(
    z.coerce
      .number()
      .transform((value) => Math.max(0, Math.trunc(value)))
      .pipe(z.int().max(1e9)),
  ),
  auto_ban: nullAsAbsent(z.union([z.boolean().transform(Number), wholeNumber(0, 1)])),
  tag: optionalText(100),
}

/** A missing member is treated like an empty one: `gateway/channels/edit/fields.ts` reports it. */
const needed = <Schema extends z.ZodType<string | undefined>>(schema: Schema) =>
  schema.transform((value) => value ?? '').meta({ needed: true })

const newChannel = z
  .object(fields)
  .partial()
  .extend({
    type: wholeNumber(1, 100_000),
    name: needed(fields.name),
    key: needed(fields.key),
    models: needed(fields.models),
    /** Enabled by default; auto-disabled (3), which exports contain, becomes disabled. */
    status: nullAsAbsent(
      z
        .literal([channelStatus.enabled, channelStatus.disabled, channelStatus.autoDisabled])
        .transform((status) => (status === channelStatus.autoDisabled ? channelStatus.disabled : status)),
    ),
    /** `key` must be a single key; several are refused. */
    single_key: z.boolean().optional(),
  })

const addModes = {
  single: { single_key: true },
  batch: {},
  multi_to_single: { multi_key: true },
} as const

/**
 * Also accepted as `{ mode, channel }`: one channel with one key (`single`), one channel per line (`batch`), or one channel with
 * all lines as its keys (`multi_to_single`).
 */
export const channelInput = z.preprocess((given: z.input<typeof newChannel>) => {
  const wrapped = z.object({ mode: z.enum(['single', 'batch', 'multi_to_single']), channel: z.looseObject({}) }).safeParse(given)
  return wrapped.success ? { ...wrapped.data.channel, ...addModes[wrapped.data.mode] } : given
}, newChannel)
export type ChannelInput = z.output<typeof channelInput>

/**
 * An edit: absent members stay unchanged; an empty key keeps the stored one. A key replaces the present one; with `multi_key`, the
 * lines replace all.
 */
export const channelPatch = z
  .object(fields)
  .partial()
  .extend({
    id: z.int().positive(),
    /** Clients send auto-disabled (3) back without reading it: it means "unchanged". */
    status: z
      .literal([channelStatus.enabled, channelStatus.disabled, channelStatus.autoDisabled])
      .transform((status) => (status === channelStatus.autoDisabled ? undefined : status))
      .optional(),
  })
export type ChannelPatch = z.output<typeof channelPatch>

/** Changes of the upstream's model list since an admin last looked: new models, and models of the channel that it no longer lists. */
export const modelChanges = z.object({
  channel_id: z.int(),
  name: z.string(),
  added: z.array(z.string()),
  removed: z.array(z.string()),
  checked_at: z.int(),
})
export type ModelChanges = z.output<typeof modelChanges>

/** The progress of a job over many channels, or the result of its last run. `counts` has the number of channels per result. */
export const channelJob = z.object({
  name: z.string(),
  outcome: z.enum(['running', 'ok', 'failed', 'timeout']),
  started_at: z.int(),
  finished_at: z.int(),
  done: z.int(),
  total: z.int(),
  counts: z.record(z.string(), z.int()),
  /** Why it failed. */
  detail: z.string(),
})
export type ChannelJob = z.output<typeof channelJob>

/** A change of all channels of a tag. Absent, null and empty members stay unchanged. */
export const tagPatch = z.object({
  tag: text(100).trim(),
  /** '' dissolves the tag. */
  new_tag: optionalText(100),
  models: optionalText(200_000),
  groups: optionalText(10_000),
  model_mapping: optionalText(200_000),
  priority: fields.priority,
  weight: fields.weight,
})
export type TagPatch = z.output<typeof tagPatch>

const bothLanguages = z.object({ zh: z.string(), en: z.string() })

/** The data of a channel type for the channel form. */
export const channelType = z.object({
  id: z.int(),
  key: z.string(),
  label: bothLanguages,
  /** A key of `channelColors`. */
  color: z.string(),
  /** The vendor's own address; '' when there is none. */
  base_url: z.string(),
  needs_base_url: z.boolean(),
  models: z.array(z.string()),
  /** The default models of a new channel: few for vendors with many models. */
  newest: z.array(z.string()),
  /** Whether the form offers it for new channels; the others only exist on old ones. */
  offered: z.boolean(),
  testable: z.boolean(),
  /** Whether the upstream can be asked for its models. */
  lists_models: z.boolean(),
  /** Whether it reports the balance of a key's account. */
  tells_balance: z.boolean(),
  key_format: bothLanguages,
  /** The complete text is one key, which may have several lines; otherwise each line is a key. */
  key_has_lines: z.boolean(),
  other_label: bothLanguages.nullable(),
  other_default: z.string(),
  docs: z.string(),
})
export type ChannelType = z.output<typeof channelType>
