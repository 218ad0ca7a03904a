/** Whether this is `npm run torture`. Tests that check this run only there, or with more cases than in the ordinary run. */
export const isTorture = process.env.TORTURE === '1'

/** All cases in `npm run torture`; in the ordinary run every `every`-th, shifted by `first`. */
export function sampled<Case>(cases: readonly Case[], every: number, first = 0): readonly Case[] {
  return isTorture ? cases : cases.filter((_, index) => (index + first) % every === 0)
}
