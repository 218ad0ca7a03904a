import { isJsonObject, parseJson } from '../../../lib/json.ts'

/** The model mapping as rows, and the ends of its chains. */
export interface MappingDraft {
  readonly from: string
  readonly to: string
}

/** Undefined when the text is not a JSON object of strings. */
export function readMapping(text: string): readonly MappingDraft[] | undefined {
  if (text.trim() === '') return []
  const mapping = parseJson(text)
  if (!isJsonObject(mapping)) return undefined
  const entries = Object.entries(mapping)
  if (entries.some(([, to]) => typeof to !== 'string')) return undefined
  return entries.map(([from, to]) => ({ from, to: String(to) }))
}

/** An empty row is ignored. A repeated model is written without a target, so that the schema refuses it. */
export function writeMapping(rows: readonly MappingDraft[]): string {
  const entries = rows.flatMap(({ from, to }, index) =>
    from.trim() === '' && to.trim() === '' ? [] : [[from.trim(), isModelTwice(rows, index) ? '' : to.trim()]],
  )
  return entries.length === 0 ? '' : JSON.stringify(Object.fromEntries(entries), null, 2)
}

export function isModelTwice(rows: readonly MappingDraft[], index: number): boolean {
  const model = rows[index]?.from.trim()
  return model !== '' && rows.some(({ from }, at) => at < index && from.trim() === model)
}

interface Chain {
  /** From the requested to the upstream model. A circle is shown up to its first repetition. */
  readonly steps: readonly string[]
  readonly isCircle: boolean
}

/** Mappings that lead to another mapping: the path of each to its end. A circle is listed once. */
export function chainsOf(text: string): readonly Chain[] {
  const next = new Map((readMapping(text) ?? []).map(({ from, to }) => [from, to]))
  const inCircle = new Set<string>()
  return [...next.keys()].flatMap((start): Chain[] => {
    const steps = [start]
    for (let model = next.get(start); model !== undefined; model = next.get(model)) {
      const isCircle = steps.includes(model)
      steps.push(model)
      if (!isCircle) continue
      if (steps.some((step) => inCircle.has(step))) return []
      for (const step of steps) inCircle.add(step)
      return [{ steps, isCircle }]
    }
    return steps.length > 2 ? [{ steps, isCircle: false }] : []
  })
}
