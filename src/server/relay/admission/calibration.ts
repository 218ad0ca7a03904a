import { LRUCache } from 'lru-cache'

/**
 * How far the estimates of this node are from what upstreams report, by model: a running ratio that makes the next estimates better. Kept
 * in memory; a node that starts knows nothing yet. Source: protocols notes 5.2.
 */
export class Calibration {
  readonly #ratios = new LRUCache<string, Learnt>({ max: modelsMax })

  /** Takes the upstream's own number for a prompt whose estimate was `estimated`. Short prompts say nothing. */
  learn(model: string, { estimated, reported }: { estimated: number; reported: number }): void {
    if (estimated < estimatedMin || reported <= 0) return
    const sample = Math.min(ratioMax, Math.max(ratioMin, reported / estimated))
    const { ratio, samples } = this.#ratios.get(model) ?? { ratio: 1, samples: 0 }
    this.#ratios.set(model, { ratio: ratio + (sample - ratio) * share, samples: samples + 1 })
  }

  /** Upstream's tokens for one estimated token; undefined while too little is known. */
  ratioOf(model: string): number | undefined {
    const learnt = this.#ratios.get(model)
    return learnt && learnt.samples >= samplesMin ? learnt.ratio : undefined
  }
}

/** How long a prompt is, before an upstream has told it. */
export interface Estimate {
  /** By its texts and media alone. */
  readonly plain: number
  /** With what was learnt of the model. */
  readonly tokens: number
  readonly isLearnt: boolean
}

interface Learnt {
  readonly ratio: number
  readonly samples: number
}

/** Callers can make up names where a channel serves a pattern. */
const modelsMax = 2_000
const estimatedMin = 64
const samplesMin = 20
const share = 0.1
const ratioMin = 0.5
const ratioMax = 3
