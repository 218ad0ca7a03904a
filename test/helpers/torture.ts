/** Whether this is `npm run torture`. Tests that say so are part of it, and larger there than in the ordinary run. */
export const isTorture = process.env.TORTURE === '1'
