/** Whether this is `npm run torture`. Tests that say so are part of it, and larger there than in the ordinary run. */
export const isTorture = process.env.TORTURE === '1'

/** All cases in `npm run torture`; in the ordinary run every n-th, from the one that `first` names. */
export function sampled<Case>(cases: readonly Case[], every: number, first = 0): readonly Case[] {
  return isTorture ? cases : cases.filter((_, index) => (index + first) % every === 0)
}
