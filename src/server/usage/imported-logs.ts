/**
 * Rows of the log that an import brought: their charges were made by another program, before the cut of the import, and have no row of the
 * ledger behind them. Their ids are below 0 and made of the id that the row had, so that none comes twice, and nothing else needs to remember
 * which ones are there.
 */
const rowsPerImport = 2 ** 40

/** The ids of an import: above `floor`, and up to `ceiling`. */
export function importedLogIds(importId: number): { readonly floor: number; readonly ceiling: number } {
  const floor = -importId * rowsPerImport
  return { floor, ceiling: floor + rowsPerImport - 1 }
}

/** The id here of a row of a source; undefined for one that no source has. */
export function importedLogId(importId: number, sourceId: number): number | undefined {
  return sourceId > 0 && sourceId < rowsPerImport ? importedLogIds(importId).floor + sourceId : undefined
}

/** Rows up to this id are of imports. */
export const lastImportedLogId = 0
