import { prices, priceUpdates } from '../pricing.ts'

export const sections = [prices, priceUpdates] as const
