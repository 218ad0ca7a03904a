/** The result of one check. `warning`: the server runs, but something should be improved. */
export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warning' | 'failed'
  readonly found: string
  /** How to fix it. */
  readonly advice?: string
}

export function failed(name: string, found: string, advice: string): Check {
  return { name, state: 'failed', found, advice }
}
