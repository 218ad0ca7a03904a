/** Time comes from the app, so that tests can set it. Milliseconds since 1970. */
export type Clock = () => number

export function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}
