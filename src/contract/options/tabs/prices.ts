import { prices } from '../pricing.ts'

export const sections = [prices] as const
