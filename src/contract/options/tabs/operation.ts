import { automation } from '../automation.ts'
import { drawing } from '../drawing.ts'
import { dashboard, logs } from '../logs.ts'
import { moderation } from '../moderation.ts'
import { groups } from '../pricing.ts'
import { quotas } from '../quota.ts'
import { chats, general } from '../site.ts'

export const sections = [general, drawing, moderation, logs, dashboard, automation, quotas, chats, groups] as const
