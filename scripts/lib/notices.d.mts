import type { LockedPackages } from './lock.d.mts'

export declare const noticesFile: string
export declare const priceLicences: string
export declare function handedOnPackages(packages: LockedPackages, names: readonly string[]): string[]
export declare function writeNotices(): Promise<void>
