interface SourceFile {
  readonly path: string
  readonly text: string
}

export function unusedExports(files: readonly SourceFile[], isLoadedByName?: (path: string) => boolean): string[]
