import { isSameModel } from './model-names.ts'

/**
 * When vendors end models, and which models they answer by others. An end belongs to a host: a copy of a model at another vendor's address
 * ends on another day, or not at all. What a vendor's list of models says comes before this table (`server/gateway/channels/row/model-ends.ts`).
 * Dates are days in UTC; an end is at the beginning of its day.
 */
export interface ModelEnd {
  /** The day, as `2026-12-11`. */
  readonly date: string
  /** The model that the vendor names in its place; absent where it names none. */
  readonly successor?: string
}

/** The vendors that the table knows, by the key of their channel type. */
type EndingVendor = 'openai' | 'anthropic' | 'gemini' | 'vertex' | 'bedrock'

interface ListedEnd extends ModelEnd {
  readonly vendor: EndingVendor
  /** Names with their dated forms; `*` stands for any further text. The first row that has a name counts. */
  readonly models: readonly string[]
  readonly source: string
}

const openaiPage = 'developers.openai.com/api/docs/deprecations'
const costMap = 'deprecation_date in model_prices_and_context_window.json of LiteLLM 1.110.2'

/** As of 2026-11-28. */
export const listedEnds: readonly ListedEnd[] = [
  {
    vendor: 'anthropic',
    models: ['claude-sonnet-4-5'],
    date: '2026-11-30',
    source: '@anthropic-ai/sdk 1.14.0, internal/data/deprecated-models',
  },
  { vendor: 'bedrock', models: ['claude-sonnet-4-5'], date: '2027-04-08', source: costMap },
  { vendor: 'anthropic', models: ['claude-opus-4-5'], date: '2027-01-22', source: '@anthropic-ai/sdk 1.13.0, CHANGELOG' },
  { vendor: 'vertex', models: ['gemini-3.6-flash'], date: '2026-11-19', source: costMap },
  {
    vendor: 'openai',
    models: ['gpt-image-1-mini', 'gpt-image-1.5', 'chatgpt-image-latest'],
    date: '2026-12-01',
    successor: 'gpt-image-2.6-sunburst',
    source: openaiPage,
  },
  { vendor: 'openai', models: ['gpt-5', 'o3'], date: '2026-12-11', successor: 'gpt-6.1-sol', source: openaiPage },
  { vendor: 'openai', models: ['gpt-5-mini'], date: '2026-12-11', successor: 'gpt-6.1-terra', source: openaiPage },
  { vendor: 'openai', models: ['gpt-5-nano'], date: '2026-12-11', successor: 'gpt-6-luna', source: openaiPage },
  // The vendor names gpt-6.1-sol with reasoning.mode `pro`, which is not a model.
  { vendor: 'openai', models: ['gpt-5-pro', 'o3-pro'], date: '2026-12-11', source: openaiPage },
  { vendor: 'openai', models: ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'], date: '2027-01-06', source: costMap },
  {
    vendor: 'openai',
    models: [
      'gpt-realtime',
      'gpt-realtime-mini',
      'gpt-audio*',
      'gpt-4o-audio-preview*',
      'gpt-4o-mini-audio-preview*',
      'gpt-4o-realtime-preview*',
      'gpt-4o-mini-realtime-preview*',
    ],
    date: '2027-01-20',
    source: costMap,
  },
  {
    vendor: 'openai',
    models: ['whisper-1', 'gpt-4o-transcribe*', 'gpt-4o-mini-transcribe*'],
    date: '2027-02-26',
    source: costMap,
  },
  {
    vendor: 'openai',
    models: ['gpt-4o*', 'gpt-4.1', 'gpt-4.1-mini', 'ft:gpt-4o*', 'ft:gpt-4.1-20*', 'ft:gpt-4.1-mini*'],
    date: '2027-01-14',
    successor: 'gpt-6-luna',
    source: openaiPage,
  },
  { vendor: 'openai', models: ['gpt-5.5-cyber-preview'], date: '2027-02-01', source: openaiPage },
  { vendor: 'openai', models: ['gpt-5.1', 'gpt-5.3-codex', 'gpt-5.4-nano'], date: '2027-04-01', source: costMap },
]

/** The end that the table has for a model at a vendor's own address, by the name that is sent there. */
export function listedEnd(vendor: string, model: string): ModelEnd | undefined {
  const found = listedEnds.find((row) => row.vendor === vendor && row.models.some((name) => isNamed(name, model)))
  return found && endOf(found)
}

/** The earliest end that any vendor of the table has for a model. */
export function earliestEnd(model: string): ModelEnd | undefined {
  const found = listedEnds.filter((row) => row.models.some((name) => isNamed(name, model)))
  const [first] = found.sort((one, other) => one.date.localeCompare(other.date))
  return first && endOf(first)
}

function endOf({ date, successor }: ModelEnd): ModelEnd {
  return successor === undefined ? { date } : { date, successor }
}

function isNamed(listed: string, model: string): boolean {
  return listed.endsWith('*') ? model.startsWith(listed.slice(0, -1)) : isSameModel(listed, model)
}

/** From a day on, a vendor answers a model by another one, at the price of that one. */
export interface Redirect {
  readonly vendor: EndingVendor
  readonly model: string
  readonly answeredBy: string
  /** The day, as `2026-12-01`. */
  readonly from: string
  readonly source: string
}

const googlePage = 'ai.google.dev/gemini-api/docs/deprecations, read 2026-11-10'
const googleChanges = 'ai.google.dev/gemini-api/docs/changelog'

export const redirects: readonly Redirect[] = [
  { vendor: 'gemini', model: 'gemini-2.5-pro', answeredBy: 'gemini-3.8-flash', from: '2026-12-01', source: googlePage },
  { vendor: 'gemini', model: 'gemini-2.5-flash', answeredBy: 'gemini-3.5-flash-lite', from: '2026-12-01', source: googlePage },
  { vendor: 'gemini', model: 'gemini-3.7-flash', answeredBy: 'gemini-3.8-flash', from: '2026-10-08', source: googleChanges },
  { vendor: 'gemini', model: 'gemini-3.5-flash', answeredBy: 'gemini-3.6-flash', from: '2026-10-08', source: googleChanges },
]

const redirectsByModel = new Map(redirects.map((one) => [one.model, one]))

/** The redirect of a model, by its exact name, whether or not its day has come. */
export function redirectOf(model: string): Redirect | undefined {
  return redirectsByModel.get(model)
}

/** Unix milliseconds at which a day begins. */
export function startOfDay(date: string): number {
  return Date.parse(`${date}T00:00:00Z`)
}
