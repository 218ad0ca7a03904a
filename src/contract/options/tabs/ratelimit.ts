import { budgets, rateLimit } from '../rate-limit.ts'

export const sections = [rateLimit, budgets] as const
