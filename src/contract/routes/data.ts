import { z } from 'zod'
import { grains, quotaData, sumsBy, usageSums } from '../entities/usage-sum.ts'
import { offsetMinutes, queryInt, queryText } from '../envelope.ts'
import { organisationAccess } from '../organisation-roles.ts'
import { routes } from '../route.ts'

const span = { start_timestamp: queryInt, end_timestamp: queryInt }
const grain = z.enum(grains).catch('hour')

export const dataRoutes = routes({
  'GET /api/data/': {
    access: 'admin',
    summary: 'Charges by model and hour, of all users or of one; up to 366 days',
    query: z.object({ ...span, username: queryText }),
    reply: z.array(quotaData),
  },
  'GET /api/data/self': {
    access: 'user',
    roles: organisationAccess.accountants,
    summary: 'Own charges by model and hour; up to 30 days',
    query: z.object(span),
    reply: z.array(quotaData),
  },
  'GET /api/data/sums': {
    access: 'admin',
    summary: 'Charges by time and by model, user, channel or group; up to 366 days, or 31 by hour',
    query: z.object({
      ...span,
      by: z.enum(sumsBy).catch('model'),
      grain,
      offset_minutes: offsetMinutes,
      username: queryText,
      model_name: queryText,
      channel: queryInt,
      group: queryText,
    }),
    reply: usageSums,
  },
  'GET /api/data/self/sums': {
    access: 'user',
    roles: organisationAccess.accountants,
    summary: 'Own charges by time and by model or group; up to 366 days, or 31 by hour',
    query: z.object({
      ...span,
      by: z.enum(['model', 'group']).catch('model'),
      grain,
      offset_minutes: offsetMinutes,
      model_name: queryText,
      group: queryText,
    }),
    reply: usageSums,
  },
})
