import { z } from 'zod'
import type { Fields, FieldsOf } from '../fields.ts'
import { nameText } from '../name-text.ts'
import type { Text } from '../text.ts'

/**
 * Quality checks: prompts that the site itself sends to channels on a schedule, with what their answers have to be. A channel
 * departs when the share of its passed answers falls below a threshold, or by some points below its baseline.
 */

export const qualityLimits = {
  checksMax: 100,
  nameLengthMax: 60,
  modelsMax: 20,
  channelsMax: 200,
  expectationsMax: 10,
  samplesMax: 10,
  windowRunsMax: 50,
  promptMax: 100_000,
  toolsMax: 20_000,
  valueMax: 2000,
  outputTokensMax: 8192,
  minutesMin: 5,
  minutesMax: 10_080,
} as const

/** Every run costs money, so the defaults are small. */
export const qualityDefaults = {
  interval_minutes: 60,
  samples: 2,
  max_output_tokens: 256,
  window_runs: 3,
  threshold: 70,
  drop: 30,
} as const

const said = (zh: string, en: string) => ({ error: en, params: { zh, en } })
const value = z.string().min(1).max(qualityLimits.valueMax)
const ignore_case = z.boolean().default(false)

/** JSON text of an object; '' for none. */
const objectText = z
  .string()
  .max(qualityLimits.valueMax)
  .refine((text) => text === '' || isPlainObject(parsed(text)), said('须为 JSON 对象', 'must be a JSON object'))

/** What an answer has to be. */
export const expectation = z.discriminatedUnion('kind', [
  /** The complete text, without surrounding whitespace. */
  z.object({ kind: z.literal('exact'), value, ignore_case }),
  z.object({ kind: z.literal('contains'), value, ignore_case }),
  /** The complete text matches a pattern in which `*` matches any characters. */
  z.object({ kind: z.literal('pattern'), value, ignore_case }),
  /** The text is JSON, bare or in one code block, and has these members: paths with dots, such as `user.name` or `items.0.id`. */
  z.object({ kind: z.literal('json'), members: z.array(z.string().trim().min(1).max(200)).max(50).default([]) }),
  /** A tool of this name is called; its arguments have at least these members. */
  z.object({ kind: z.literal('tool'), name: z.string().trim().min(1).max(100), arguments: objectText.default('') }),
  /** Tokens of the answer, as the upstream counts them. */
  z
    .object({ kind: z.literal('tokens'), min: z.int().min(0).max(1_000_000), max: z.int().min(1).max(1_000_000) })
    .refine(({ min, max }) => min <= max, said('最少不能大于最多', 'must not be less than the minimum')),
])
export type Expectation = z.output<typeof expectation>
export type ExpectationKind = Expectation['kind']

export const expectationLabels: Readonly<Record<ExpectationKind, Text>> = {
  exact: { zh: '完全等于', en: 'Is exactly' },
  contains: { zh: '包含', en: 'Contains' },
  pattern: { zh: '符合通配符', en: 'Matches pattern' },
  json: { zh: '为 JSON', en: 'Is valid JSON' },
  tool: { zh: '调用工具', en: 'Calls a tool' },
  tokens: { zh: '输出 Token 数', en: 'Output tokens' },
}

/** JSON text of tools in the format of Chat; '' for none. */
const tools = z
  .string()
  .max(qualityLimits.toolsMax)
  .refine(
    (text) => text === '' || readTools(text) !== undefined,
    said('须为工具的 JSON 数组', 'must be a JSON array of tools with function names'),
  )

/** Prompt and expectations: results are comparable as long as these stay the same. */
export const qualityQuestion = z.object({
  system: z.string().max(qualityLimits.promptMax).default(''),
  prompt: z.string().trim().min(1).max(qualityLimits.promptMax),
  tools: tools.default(''),
  expectations: z.array(expectation).min(1).max(qualityLimits.expectationsMax),
  max_output_tokens: z.int().min(1).max(qualityLimits.outputTokensMax).default(qualityDefaults.max_output_tokens),
})
export type QualityQuestion = z.output<typeof qualityQuestion>

export const qualityCheckInput = qualityQuestion.extend({
  name: z.string().transform(nameText).pipe(z.string().min(1).max(qualityLimits.nameLengthMax)),
  enabled: z.boolean().default(true),
  models: z.array(z.string().trim().min(1).max(200)).min(1).max(qualityLimits.modelsMax),
  /** Ids; empty for every channel that serves the model. */
  channels: z.array(z.int().positive()).max(qualityLimits.channelsMax).default([]),
  interval_minutes: z.int().min(qualityLimits.minutesMin).max(qualityLimits.minutesMax).default(qualityDefaults.interval_minutes),
  /** Answers of each channel and model in one run. */
  samples: z.int().min(1).max(qualityLimits.samplesMax).default(qualityDefaults.samples),
  /** The number of last runs over which the share of passed answers is computed. */
  window_runs: z.int().min(1).max(qualityLimits.windowRunsMax).default(qualityDefaults.window_runs),
  /** Percent of passed answers below which a channel departs. */
  threshold: z.int().min(0).max(100).default(qualityDefaults.threshold),
  /** Points below its own baseline at which a channel departs; 0 for no comparison. */
  drop: z.int().min(0).max(100).default(qualityDefaults.drop),
})
export type QualityCheckInput = z.output<typeof qualityCheckInput>

/** The form of a check in three parts: what is asked, when, and what is made of the answers. */
export const qualityFields = {
  question: {
    name: {
      widget: 'text',
      label: { zh: '名称', en: 'Name' },
      required: { zh: '请填写名称', en: 'Enter a name' },
      max: qualityLimits.nameLengthMax,
    },
    models: {
      widget: 'tags',
      label: { zh: '模型', en: 'Models' },
      help: { zh: '用这些模型提问。', en: 'The prompt is sent to each of these models.' },
      required: { zh: '请选择模型', en: 'Choose a model' },
      max: qualityLimits.modelsMax,
    },
    channels: {
      widget: 'choices',
      label: { zh: '渠道', en: 'Channels' },
      help: { zh: '留空为提供该模型的全部启用渠道。', en: 'Leave blank for every enabled channel that serves the model.' },
    },
    system: { widget: 'textarea', label: { zh: '系统提示词', en: 'System prompt' }, rows: [1, 8] },
    prompt: {
      widget: 'textarea',
      label: { zh: '用户提示词', en: 'User prompt' },
      required: { zh: '请填写提示词', en: 'Enter a prompt' },
      rows: [2, 10],
    },
    expectations: { widget: 'own' },
    tools: { widget: 'own' },
  },
  schedule: {
    enabled: { widget: 'switch', label: { zh: '按计划运行', en: 'Run on schedule' } },
    interval_minutes: { widget: 'select', label: { zh: '间隔', en: 'Interval' }, short: true },
    samples: { widget: 'whole', label: { zh: '每次运行的回答数', en: 'Answers per run' }, min: 1, short: true },
    max_output_tokens: { widget: 'whole', label: { zh: '最大输出 Token 数', en: 'Maximum output tokens' }, min: 1 },
  },
  departure: {
    window_runs: { widget: 'whole', label: { zh: '统计最近运行次数', en: 'Latest runs to count' }, min: 1, short: true },
    threshold: { widget: 'whole', label: { zh: '通过率阈值（%）', en: 'Minimum pass rate (%)' }, short: true },
    drop: {
      widget: 'whole',
      label: { zh: '比基线下降（百分点）', en: 'Largest drop below the baseline (points)' },
      help: {
        zh: '基线为更早的最多 50 次运行；0 为不比较。',
        en: 'The baseline is the pass rate of up to 50 earlier runs. 0 turns the comparison off.',
      },
    },
  },
} satisfies Readonly<Record<string, Fields & FieldsOf<QualityCheckInput>>>

/** `waiting`: too few runs to tell. `below` the threshold, or `dropped` against the baseline: the channel departs. */
export const departedStates = ['below', 'dropped'] as const
export const standingStates = ['waiting', 'ok', ...departedStates] as const
export type StandingState = (typeof standingStates)[number]

export function isDeparted(state: StandingState): boolean {
  return departedStates.some((each) => each === state)
}

/** A check in which a channel departs, with one of its models. */
export const departure = z.object({
  check_id: z.int(),
  check_name: z.string(),
  model: z.string(),
  state: z.enum(departedStates),
})
export type Departure = z.output<typeof departure>

/** The results of a channel for a model. Shares are percent; -1 when there is none. */
const qualityStanding = z.object({
  channel_id: z.int(),
  channel_name: z.string(),
  model: z.string(),
  state: z.enum(standingStates),
  share: z.number(),
  baseline: z.number(),
  /** The number of runs with the current question, up to those that count. */
  runs: z.int(),
  /** Passed and all answers of the last run, and its time. */
  passed: z.int(),
  total: z.int(),
  run_at: z.int(),
})
export type QualityStanding = z.output<typeof qualityStanding>

export const qualityCheck = qualityCheckInput.extend({
  id: z.int(),
  /** It is running, or was requested to run next. */
  is_running: z.boolean(),
  created_by: z.string(),
  created_at: z.int(),
  /** Unix seconds; 0 for never. */
  last_run_at: z.int(),
  next_run_at: z.int(),
  /** The number of calls that the last run skipped, and the error code of the last skipped one. */
  last_skipped: z.int(),
  last_skip_code: z.string(),
  standings: z.array(qualityStanding),
})
export type QualityCheck = z.output<typeof qualityCheck>

/** `error`: there was no answer. It counts as one that does not pass. */
export const qualityOutcomes = ['passed', 'failed', 'error'] as const
export type QualityOutcome = (typeof qualityOutcomes)[number]

/** Why an answer is not what was expected. */
const faultReasons = [
  'differs',
  'missing',
  'no_json',
  'no_member',
  'no_tool',
  'bad_arguments',
  'argument_differs',
  'too_few',
  'too_many',
] as const
export type FaultReason = (typeof faultReasons)[number]

const qualityFault = z.object({
  /** The index of the expectation in its check. */
  index: z.int(),
  kind: z.enum(['exact', 'contains', 'pattern', 'json', 'tool', 'tokens']),
  reason: z.enum(faultReasons),
  /** The member, argument, number or tool that it is about. */
  detail: z.string(),
})
export type QualityFault = z.output<typeof qualityFault>

export const qualityResult = z.object({
  id: z.int(),
  run_at: z.int(),
  created_at: z.int(),
  channel_id: z.int(),
  channel_name: z.string(),
  model: z.string(),
  sample: z.int(),
  outcome: z.enum(qualityOutcomes),
  faults: z.array(qualityFault),
  /** Why there was no answer. */
  error: z.string(),
  ms: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  /** In quota units. */
  cost: z.int(),
})
export type QualityResult = z.output<typeof qualityResult>

export const qualityAnswer = z.object({
  /** Text and tool calls, as far as they are stored. */
  answer: z.string(),
  is_cut: z.boolean(),
})

/** Parses the tools of a JSON text; undefined when it is no list of tools. */
export function readTools(text: string): Record<string, unknown>[] | undefined {
  const list = parsed(text)
  if (!Array.isArray(list) || list.length === 0 || list.length > 50) return undefined
  return list.every(isTool) ? list : undefined
}

function isTool(tool: unknown): tool is Record<string, unknown> {
  if (!isPlainObject(tool) || tool.type !== 'function' || !isPlainObject(tool.function)) return false
  return typeof tool.function.name === 'string' && tool.function.name !== ''
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
