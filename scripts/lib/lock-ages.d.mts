interface Lock {
  packages: Record<string, { name?: string; version?: string }>
}

export function lockedVersions(lock: Lock): string[]
export function ageProblems(lock: Lock, ages: Readonly<Record<string, string>>, today: number): string[]
