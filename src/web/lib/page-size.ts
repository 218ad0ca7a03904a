import type { pageSizes as contractSizes } from '../../contract/envelope.ts'
import { storedJson } from './stored.ts'

/** Rows per page, one choice for every list, kept as `page-size`. */
export const pageSizes: typeof contractSizes = [10, 20, 50, 100]

export type PageSize = (typeof pageSizes)[number]

const isPageSize = (value: unknown): value is PageSize => pageSizes.some((size) => size === value)

export const pageSize = storedJson<PageSize>('page-size', 10, isPageSize)
export const usePageSize = pageSize.use
