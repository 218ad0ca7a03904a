interface LockedPackage {
  version?: string
  devDependencies?: Record<string, string>
  dev?: boolean
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
}

export declare const noticesFile: string
export declare function handedOnPackages(packages: Record<string, LockedPackage>, names: readonly string[]): string[]
export declare function writeNotices(): Promise<void>
