import { z } from 'zod'
import { qualityAnswer, qualityCheck, qualityCheckInput, qualityOutcomes, qualityResult } from '../entities/quality-check.ts'
import { idParams, oneBasedPage, page, queryInt, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const outcomeFilter = queryText.transform((text) => qualityOutcomes.find((outcome) => outcome === text))

export const qualityCheckRoutes = routes({
  'GET /api/quality_check/': {
    access: 'admin',
    summary: 'List quality checks by name, with how channels do in each',
    query: z.object({ ...oneBasedPage, keyword: queryText }),
    reply: page(qualityCheck),
  },
  'GET /api/quality_check/:id': {
    access: 'admin',
    summary: 'Get a quality check, with how channels do in it',
    params: idParams,
    reply: qualityCheck,
  },
  'POST /api/quality_check/': {
    access: 'admin',
    summary: 'Create a quality check: a prompt, what its answers have to be, models, channels and a schedule',
    body: qualityCheckInput,
    reply: qualityCheck,
  },
  'PUT /api/quality_check/:id': {
    access: 'admin',
    summary: 'Update a quality check; a changed question begins a new history',
    params: idParams,
    body: qualityCheckInput,
    reply: qualityCheck,
  },
  'PUT /api/quality_check/:id/enabled': {
    access: 'admin',
    summary: 'Switch the schedule of a quality check on or off',
    params: idParams,
    body: z.object({ enabled: z.boolean() }),
    reply: z.null(),
  },
  'DELETE /api/quality_check/:id': {
    access: 'admin',
    summary: 'Delete a quality check and its results',
    params: idParams,
    reply: z.null(),
  },
  'POST /api/quality_check/:id/run': {
    access: 'admin',
    summary: 'Run a quality check now; the upstreams’ costs are the site’s',
    limit: 'critical',
    params: idParams,
    reply: z.null(),
  },
  'GET /api/quality_check/:id/results': {
    access: 'admin',
    summary: 'List results of a quality check, newest first',
    params: idParams,
    query: z.object({ ...oneBasedPage, channel: queryInt, model: queryText, outcome: outcomeFilter }),
    reply: page(qualityResult),
  },
  'GET /api/quality_check/result/:id': {
    access: 'admin',
    summary: 'Get the answer that a result is about',
    params: idParams,
    reply: qualityAnswer,
  },
})
