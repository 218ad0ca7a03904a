import { rateLimit } from '../rate-limit.ts'

export const sections = [rateLimit] as const
