import type { LockedPackages } from './lock.d.mts'

interface Lock {
  readonly packages: LockedPackages
}

export function lockedVersions(lock: Lock): string[]
export function ageProblems(lock: Lock, ages: Readonly<Record<string, string>>, today: number): string[]
