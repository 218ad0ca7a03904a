export interface LockedPackage {
  readonly name?: string
  readonly version?: string
  readonly link?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

export type LockedPackages = Readonly<Record<string, LockedPackage>>

export function packagePaths(packages: LockedPackages): string[]
export function rootPackages(packages: LockedPackages): string[]
export function neededPackages(packages: LockedPackages, names: readonly string[]): string[]
