import { pageSizes } from '../../contract/envelope.ts'
import { storedJson } from './stored.ts'

export type PageSize = (typeof pageSizes)[number]

const isPageSize = (value: unknown): value is PageSize => pageSizes.some((size) => size === value)

/** Rows per page, one choice for every list, stored as `page-size`. */
export const pageSize = storedJson<PageSize>('page-size', 10, isPageSize)
export const usePageSize = pageSize.use
