import { csvLine, csvText } from '../../../../contract/csv.ts'
import { zoneClock } from '../time/zone-clock.ts'

/** Unix seconds as UTC, `2026-01-02T03:04:05Z`. */
export function csvTime(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace('.000Z', 'Z')
}

/** A column's source: a field of that name, a function of the row, or a moment in unix seconds, 0 for none. */
export type CsvColumn<Row> =
  | (keyof Row & string)
  | { readonly name: string; readonly value: (row: Row) => string | number }
  | { readonly name: string; readonly time: (row: Row) => number }

interface CsvTable<Row> {
  readonly columns: readonly CsvColumn<Row>[]
  /** An IANA name; unknown names mean UTC. */
  readonly timeZone?: string
}

interface CsvSource<Row> extends CsvTable<Row> {
  /** The next rows below an id, the newest first. */
  readonly read: (below: number, limit: number) => Promise<readonly Row[]>
  /** Selects the rows of the file; all rows if absent. */
  readonly keep?: (row: Row) => boolean
}

const rowsAtOnce = 500

/**
 * A table as the pieces of a file, newest first. Some hundred rows are read at a time, with back-pressure, so that a slow reader
 * blocks no one and takes no memory.
 */
export function csvFile<Row extends { readonly id: number }>({
  read,
  keep = () => true,
  ...table
}: CsvSource<Row>): AsyncGenerator<string> {
  return csvOfPieces({ ...table, pieces: newestFirst(read, keep) })
}

async function* newestFirst<Row extends { readonly id: number }>(
  read: CsvSource<Row>['read'],
  keep: (row: Row) => boolean,
): AsyncGenerator<readonly Row[]> {
  for (let below = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = await read(below, rowsAtOnce)
    yield rows.filter(keep)
    if (rows.length < rowsAtOnce) return
    below = rows.at(-1)?.id ?? 0
  }
}

/** A table as the chunks of a file, in the order of its rows. */
export async function* csvOfPieces<Row>({
  columns,
  timeZone = '',
  pieces,
}: CsvTable<Row> & { readonly pieces: AsyncIterable<readonly Row[]> }): AsyncGenerator<string> {
  const { zone, timeText } = zoneClock(timeZone)
  const fieldOf = (row: Row, column: CsvColumn<Row>): string | number => {
    if (typeof column === 'string') return plain(row[column])
    if ('value' in column) return column.value(row)
    const at = column.time(row)
    return at > 0 ? timeText(at) : ''
  }
  yield csvText([columns.map((column) => headOf(column, zone))])

  for await (const rows of pieces) {
    const lines = rows.map((row) => csvLine(columns.map((column) => fieldOf(row, column))))
    if (lines.length > 0) yield lines.join('')
  }
}

function headOf<Row>(column: CsvColumn<Row>, zone: string): string {
  if (typeof column === 'string') return column
  return 'time' in column ? `${column.name} (${zone})` : column.name
}

const plain = (value: unknown): string | number => (typeof value === 'number' ? value : String(value ?? ''))
