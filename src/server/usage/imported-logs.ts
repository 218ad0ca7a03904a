/**
 * Rows of the log that were imported: their charges were made by another program, before the cut of the import, and have no ledger
 * row. Their ids are negative and derived from the id in the source, so that no row is imported twice, and nothing else has to
 * record which ones exist.
 */
const rowsPerImport = 2 ** 40

/** The ids of an import: above `floor`, and up to `ceiling`. */
export function importedLogIds(importId: number): { readonly floor: number; readonly ceiling: number } {
  const floor = -importId * rowsPerImport
  return { floor, ceiling: floor + rowsPerImport - 1 }
}

/** The id in this log of a row of a source; undefined for an invalid source id. */
export function importedLogId(importId: number, sourceId: number): number | undefined {
  return sourceId > 0 && sourceId < rowsPerImport ? importedLogIds(importId).floor + sourceId : undefined
}

/** Rows up to this id were imported. */
export const lastImportedLogId = 0
