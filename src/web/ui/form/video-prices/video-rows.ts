import { clipUsd, type VideoPrice, type VideoRate } from '../../../../contract/video-price.ts'
import { isJsonObject, parseJson } from '../../../lib/json.ts'

/** A price table as rows: one for each rate, those of a model below each other. Its unit and lengths are those of its first row. */
export interface VideoRow {
  readonly model: string
  readonly resolution: string
  readonly sound: VideoRate['sound']
  readonly per: VideoPrice['per']
  /** Texts while they are being typed. */
  readonly usd: number | string
  readonly usual: number | string
  readonly longest: number | string
}

export const newVideoRow: VideoRow = {
  model: '',
  resolution: '720p',
  sound: 'any',
  per: 'second',
  usd: '',
  usual: 5,
  longest: 10,
}

const rowsMax = 200

/** Undefined when the text does not fit into rows. */
export function readVideoRows(text: string): readonly VideoRow[] | undefined {
  if (text.trim() === '') return []
  const object = parseJson(text)
  if (!isJsonObject(object)) return undefined
  const rows: VideoRow[] = []
  for (const [model, price] of Object.entries(object)) {
    const found = rowsOf(model, price)
    if (!found) return undefined
    rows.push(...found)
  }
  return rows.length > rowsMax ? undefined : rows
}

function rowsOf(model: string, price: unknown): VideoRow[] | undefined {
  if (!isJsonObject(price)) return undefined
  const { per, seconds, rates } = price
  if ((per !== 'second' && per !== 'clip') || !isJsonObject(seconds) || !Array.isArray(rates)) return undefined
  const { usual, longest } = seconds
  const found = rates.flatMap((rate): VideoRow[] => {
    if (!isJsonObject(rate) || typeof rate.resolution !== 'string') return []
    const { resolution, sound, usd } = rate
    if (sound !== 'any' && sound !== 'with' && sound !== 'without') return []
    return [{ model, resolution, sound, per, usd: typed(usd), usual: typed(usual), longest: typed(longest) }]
  })
  return found.length === rates.length ? found : undefined
}

function typed(value: unknown): number | string {
  return typeof value === 'number' ? value : ''
}

/** A price that is not typed yet is written so that the schema refuses it. */
export function writeVideoRows(rows: readonly VideoRow[]): string {
  const models = [...new Set(rows.map(({ model }) => model))]
  const prices = models.map((model) => {
    const own = rows.filter((row) => row.model === model)
    const [{ per, usual, longest } = newVideoRow] = own
    const rates = own.map(({ resolution, sound, usd }) => ({ resolution, sound, usd: numberOf(usd) }))
    return [model, { per, seconds: { usual: numberOf(usual), longest: numberOf(longest) }, rates }]
  })
  return JSON.stringify(Object.fromEntries(prices), null, 2)
}

function numberOf(value: number | string): number | null {
  return value === '' ? null : Number(value)
}

/** Whether the row is the first of its model, which has the unit and the lengths. */
export function isFirstOfModel(rows: readonly VideoRow[], index: number): boolean {
  return rows.findIndex(({ model }) => model === rows[index]?.model) === index
}

/** US dollars of a clip of the usual length; undefined while the row is incomplete. */
export function usdOfUsualClip(
  rows: readonly VideoRow[],
  index: number,
): { readonly usd: number; readonly seconds: number } | undefined {
  const row = rows[index]
  const first = rows.find(({ model }) => model === row?.model)
  if (!row || !first || row.usd === '' || first.usual === '') return undefined
  const seconds = Number(first.usual)
  const usd = clipUsd(first, { resolution: row.resolution, sound: row.sound, usd: Number(row.usd) }, seconds)
  return Number.isFinite(usd) ? { usd, seconds } : undefined
}
