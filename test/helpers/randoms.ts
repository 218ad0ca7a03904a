/** Numbers from 0 up to 1 that are the same for the same seed. */
export function randomsOf(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}
