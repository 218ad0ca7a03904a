import { providerById } from '../../gateway/providers/index.ts'

/** The Sluice type of an imported channel. `type` is the number of a provider in `providers/`. */
interface TakenType {
  readonly type: number
  /** The default address in the source, if the Sluice type has another one. */
  readonly baseUrl?: string
  /** The source has no default address: a channel without its own would send requests to another vendor. */
  readonly needsOwnUrl?: true
}

/** Undefined for a number that could mean another vendor in Sluice, which must not receive the key. */
export type TypeTable = (number: number) => TakenType | undefined

/** new-api from 0.4 to the versions of 2026 uses the numbers of Sluice. Only certain numbers are listed: 58, for example, differs between forks. */
export const newApiTypes: TypeTable = (number) => {
  const isCertain = (number >= 1 && number <= 50) || number === 52 || number === 56
  if (isCertain && providerById(number)) return { type: number }
  return ofClips.get(number)
}

const compatible = 1

/** Clips of vendors whose channels are one kind here: those of Ark, and OpenAI's own. */
const ofClips: ReadonlyMap<number, TakenType> = new Map([
  [54, { type: 45 }],
  [55, { type: compatible }],
])

/** one-api 0.5 and 0.6. Its numbers differ from those of Sluice from 26 on. */
const oneApi: Readonly<Record<number, TakenType>> = {
  1: { type: 1 },
  2: { type: compatible, baseUrl: 'https://oa.api2d.net' },
  3: { type: 3 },
  4: { type: compatible, needsOwnUrl: true },
  5: { type: compatible, baseUrl: 'https://api.openai-sb.com' },
  6: { type: 6 },
  7: { type: 7 },
  8: { type: 8 },
  9: { type: 9 },
  10: { type: 10 },
  11: { type: 11 },
  12: { type: 12 },
  13: { type: 13 },
  14: { type: 14 },
  15: { type: 15 },
  16: { type: 16 },
  17: { type: 17 },
  18: { type: 18 },
  19: { type: 19 },
  20: { type: 20 },
  21: { type: 21 },
  22: { type: 22 },
  23: { type: 23 },
  24: { type: 24 },
  25: { type: 25 },
  26: { type: compatible, baseUrl: 'https://api.baichuan-ai.com' },
  27: { type: 35 },
  28: { type: 42 },
  29: { type: compatible, baseUrl: 'https://api.groq.com/openai' },
  30: { type: 4 },
  31: { type: 31 },
  32: { type: compatible, baseUrl: 'https://api.stepfun.com' },
  33: { type: 33 },
  34: { type: 49 },
  35: { type: 34 },
  36: { type: 43 },
  37: { type: 39 },
  39: { type: compatible, baseUrl: 'https://api.together.xyz' },
  40: { type: 45 },
  41: { type: compatible, baseUrl: 'https://api.novita.ai/v3/openai' },
  42: { type: 41 },
  44: { type: 40 },
  45: { type: 48 },
  46: { type: 56 },
  47: { type: 46 },
  49: { type: 17 },
  50: { type: compatible, needsOwnUrl: true },
  51: { type: 24 },
}

export const oneApiTypes: TypeTable = (number) => oneApi[number]
