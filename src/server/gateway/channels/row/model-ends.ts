import { z } from 'zod'
import { earliestEnd, listedEnd, type ModelEnd, type Redirect, startOfDay } from '../../../../contract/model-ends.ts'
import type { Provider } from '../../providers/provider.ts'
import { vendorOf } from '../../providers/vendor-address.ts'

/**
 * When the models of channels end: by the list of the channel's upstream, which is read daily (`model-changes.ts`), otherwise by the table
 * of vendors in `contract/model-ends.ts`. Pure.
 */
export interface EndingChannel {
  readonly baseUrl: string
  readonly provider: Provider
  readonly modelMapping: ReadonlyMap<string, string>
  /** The ends in the upstream's list, by the upstream's name. */
  readonly modelEnds: ReadonlyMap<string, ModelEnd>
}

/** Whether a channel calls a vendor's own address. */
export function isAtVendor({ baseUrl, provider }: Pick<EndingChannel, 'baseUrl' | 'provider'>, vendor: string): boolean {
  return vendorOf(baseUrl, provider)?.key === vendor
}

/** When a model ends at a channel; undefined where no end is known. */
export function endAt({ baseUrl, provider, modelMapping, modelEnds }: EndingChannel, model: string): ModelEnd | undefined {
  const sent = modelMapping.get(model) ?? model
  const vendor = vendorOf(baseUrl, provider)
  return modelEnds.get(sent) ?? (vendor && listedEnd(vendor.key, sent))
}

/**
 * When a model ends on this site: with the last of its channels, and never while one has no known end. A model without a channel has the
 * earliest end of all vendors.
 */
export function lastEnd(channels: readonly EndingChannel[], model: string): ModelEnd | undefined {
  if (channels.length === 0) return earliestEnd(model)
  const ends = channels.map((channel) => endAt(channel, model))
  return ends.reduce((last, end) => (last && end && end.date > last.date ? end : end && last))
}

/** The models of these that end on this site, for the console. */
export function endsOfModels(
  index: { endOf(model: string): ModelEnd | undefined },
  models: readonly string[],
): Record<string, { date: string; successor: string }> {
  const ends = models.flatMap((model) => {
    const end = index.endOf(model)
    return end ? [[model, { date: end.date, successor: end.successor ?? '' }] as const] : []
  })
  return Object.fromEntries(ends)
}

/** Whether the day of a redirect has come, and one of the channels sends the model by its own name to the vendor's address. */
export function isRedirected(channels: readonly EndingChannel[], redirect: Redirect, nowMs: number): boolean {
  const { model, vendor, from } = redirect
  if (nowMs < startOfDay(from)) return false
  return channels.some((channel) => (channel.modelMapping.get(model) ?? model) === model && isAtVendor(channel, vendor))
}

const storedEnds = z.record(z.string(), z.object({ date: z.string(), successor: z.string().optional() }))

/** Reads the column `ends` of `upstream_models`. */
export function readEnds(column: string): ReadonlyMap<string, ModelEnd> {
  const ends = column === '' ? {} : storedEnds.parse(JSON.parse(column))
  return new Map(
    Object.entries(ends).map(([name, { date, successor }]) => [name, successor === undefined ? { date } : { date, successor }]),
  )
}

const day = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d/)
  .transform((text) => text.slice(0, 10))
  .refine((text) => !Number.isNaN(startOfDay(text)))
const unixDay = z
  .int()
  .min(1e9)
  .max(1e11)
  .transform((at) => new Date(at * 1000).toISOString().slice(0, 10))
const named = z.string().min(1).max(255)

/** Members of an entry of a list of models in which vendors tell its end. Others of these names are not read. */
const endMembers = [
  // OpenAI: `shutdown_date`; Anthropic: `retires_at`; Mistral: `deprecation`; Azure: `deprecation.inference`; OpenRouter: `expiration_date`.
  ['shutdown_date', day],
  ['retires_at', day],
  ['deprecation', z.union([day, z.object({ inference: unixDay }).transform(({ inference }) => inference)])],
  ['deprecation_date', day],
  ['expiration_date', day],
] as const

const entry = z.looseObject({ deprecation_replacement_model: named.nullish().catch(undefined) })

/** The end of a model in the entry of an upstream's list. */
export function endInList(listed: unknown): ModelEnd | undefined {
  const read = entry.safeParse(listed).data
  if (!read) return undefined
  const date = endMembers.flatMap(([member, schema]) => schema.safeParse(read[member]).data ?? [])[0]
  if (date === undefined) return undefined
  const { deprecation_replacement_model: successor } = read
  return successor ? { date, successor } : { date }
}
