import type { Say } from '../../lib/i18n.ts'
import type { texts } from './texts.ts'

export const intervalMinutes = [5, 15, 30, 60, 180, 360, 720, 1440] as const

/** "Every 30 minutes", "Every hour". */
export function intervalText(minutes: number, say: Say<keyof typeof texts>): string {
  if (minutes === 60) return say('everyHour')
  if (minutes === 1440) return say('everyDay')
  if (minutes % 1440 === 0) return say('everyDays', { count: minutes / 1440 })
  if (minutes % 60 === 0) return say('everyHours', { count: minutes / 60 })
  return say('everyMinutes', { count: minutes })
}
