export const spanSeconds: number

export function fillLog(given: {
  dialect: string
  run: (sql: string) => Promise<void>
  rows: number
  endSeconds: number
  log: (text: string) => void
}): Promise<void>
