import { automation } from '../automation.ts'
import { drawing } from '../drawing.ts'
import { groups } from '../groups.ts'
import { dashboard, logs } from '../logs.ts'
import { moderation } from '../moderation.ts'
import { quality } from '../quality.ts'
import { quotas } from '../quota.ts'
import { recordings } from '../recordings.ts'
import { chats, general } from '../site.ts'
import { statusPage } from '../status-page.ts'

export const sections = [
  general,
  drawing,
  moderation,
  logs,
  recordings,
  dashboard,
  automation,
  quality,
  statusPage,
  quotas,
  chats,
  groups,
] as const
