import { z } from 'zod'
import { routes } from '../route.ts'

export const optionRoutes = routes({
  'GET /api/option/': {
    access: 'admin',
    summary: 'List all options that are not secret',
    reply: z.array(z.object({ key: z.string(), value: z.string() })),
  },
  'PUT /api/option/': {
    access: 'admin',
    summary:
      'Save one option; the current value changes nothing, a secret without a value stays unchanged; with `confirmed: false` groups in use cannot be removed',
    body: z.object({
      key: z.string().max(100),
      value: z
        .union([z.string(), z.number(), z.boolean()])
        .nullish()
        .transform((value) => (value === null || value === undefined ? undefined : String(value))),
      confirmed: z.boolean().optional(),
    }),
    reply: z.null(),
  },
  'GET /api/option/secrets': {
    access: 'admin',
    summary: 'List the secret options that are set',
    reply: z.record(z.string(), z.boolean()),
  },
  'POST /api/option/test_mail': {
    access: 'root',
    summary: 'Send a test mail with the saved mail settings; returns the reason of a failure',
    limit: 'critical',
    body: z.object({ email: z.string().max(300) }),
    reply: z.null(),
  },
  'POST /api/option/rest_model_ratio': {
    access: 'admin',
    summary: 'Reset the model ratios to the defaults',
    reply: z.null(),
    extra: z.object({ message: z.string() }),
  },
})
