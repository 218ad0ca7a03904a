import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Reports at the end how many secrets were searched for in how much text. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-canaries-'))
  const file = join(folder, 'tally')
  process.env.CANARY_TALLY = file
  return () => {
    const files = readTally(file)
    const total = (pick: (one: Tally) => number) => files.reduce((sum, one) => sum + pick(one), 0)
    const places = [...new Set(files.flatMap(({ bytes }) => Object.keys(bytes)))].sort()
    const texts = places.map((place) => `${(total(({ bytes }) => bytes[place] ?? 0) / 1e6).toFixed(1)} MB of ${place}`)
    console.log(
      `Canaries: ${total(({ secrets }) => secrets)} secrets of ${files.length} files looked for in ${texts.join(', ')}:`,
      `${total(({ found }) => found)} found`,
    )
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Tally {
  readonly secrets: number
  readonly bytes: Readonly<Record<string, number>>
  readonly found: number
}

function readTally(file: string): Tally[] {
  try {
    return readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line): Tally => JSON.parse(line))
  } catch {
    return []
  }
}
